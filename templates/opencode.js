// Agent memory for opencode, written by `amp install opencode`; `amp uninstall opencode` takes it away.
// Each hook pipes to amp-hook what happens and does what it answers. Whatever goes wrong, opencode goes on.
import { spawn } from "node:child_process"

const HOOKS = {}
const MILLISECONDS = 10000
const READ = new Set(["read", "glob", "grep", "list", "webfetch", "websearch", "todowrite", "todoread", "question", "skill"])
const PRIMARY = new Set(["build", "plan"])

const ask = (event, message, folder) =>
  new Promise((resolve) => {
    const none = () => resolve({})
    try {
      const env = { ...process.env, AMP_PROJECT_DIR: folder }
      const child = spawn("sh", ["-c", HOOKS[event]], { cwd: folder, env, stdio: ["pipe", "pipe", "ignore"] })
      const timer = setTimeout(() => (child.kill(), none()), MILLISECONDS)
      let said = ""
      child.stdout.on("data", (piece) => (said += piece))
      child.on("error", none)
      child.stdin.on("error", () => {})
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(said || "{}"))
        } catch {
          none()
        }
      })
      child.stdin.end(JSON.stringify({ cwd: folder, ...message }))
    } catch {
      none()
    }
  })

export const AgentMemory = async ({ client, directory, worktree }) => {
  const folder = directory || worktree
  const parents = new Map()
  const agents = new Map()
  const given = new Map()
  const who = (id) => ({ session_id: parents.get(id) || id, ...(agents.get(id) ? { agent_type: agents.get(id) } : {}) })
  const inner = (answer) => answer.hookSpecificOutput || {}

  const stopped = async (id) => {
    const { data } = await client.session.messages({ path: { id } })
    const parts = data?.at(-1)?.parts || []
    const text = parts.filter((part) => part.type === "text").map((part) => part.text)
    const event = parents.has(id) ? "subagent-stop" : "stop"
    await ask(event, { ...who(id), last_assistant_message: text.join("\n") }, folder)
  }

  return {
    event: async ({ event }) => {
      const { sessionID, info } = event.properties || {}
      if (event.type === "session.created" && info?.parentID) parents.set(info.id, info.parentID)
      if (event.type === "session.compacted") given.delete(sessionID)
      if (event.type === "session.idle") await stopped(sessionID).catch(() => {})
    },
    "chat.message": async (input, output) => {
      const agent = output.message?.agent || input.agent
      if (agent && !PRIMARY.has(agent)) agents.set(input.sessionID, agent)
    },
    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      if (!sessionID || output.system[0]?.includes("title generator")) return
      const event = parents.has(sessionID) ? "subagent-start" : "session-start"
      if (!given.has(sessionID)) given.set(sessionID, ask(event, { ...who(sessionID), source: "startup" }, folder))
      const text = inner(await given.get(sessionID)).additionalContext
      if (text) output.system.push(text)
    },
    "tool.execute.before": async (input, output) => {
      if (READ.has(input.tool)) return
      const call = { ...who(input.sessionID), tool_name: input.tool, tool_input: output.args || {} }
      const { permissionDecision, permissionDecisionReason } = inner(await ask("pre-tool-use", call, folder))
      if (permissionDecision === "deny") throw new Error(permissionDecisionReason)
    },
  }
}
