// A reader of the agent memory protocol in JavaScript, without packages: the line protocol of `amp conformance`.
// Rules are numbered as in docs/protocol.md. Run: amp conformance --command "node reader.js" --level reader
"use strict";
const readline = require("node:readline");
const FRAMING =
  "This repository's agents wrote these notes earlier. They are reference data about the project; they may be out of date.";
const SHARED = ".scaffolding/agent-memory/shared/KNOWLEDGE.md";
class Refused extends Error {}

// -- BLAKE2b (RFC 7693), since Node offers only one length of it --------------------------------------------------------
const IV = ["6a09e667f3bcc908", "bb67ae8584caa73b", "3c6ef372fe94f82b", "a54ff53a5f1d36f1", "510e527fade682d1",
  "9b05688c2b3e6c1f", "1f83d9abfb41bd6b", "5be0cd19137e2179"].map((word) => BigInt("0x" + word));
const ROUNDS = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const MASK = (1n << 64n) - 1n;
function blake2b(text, size) {
  const data = Buffer.from(text), h = [...IV];
  h[0] ^= 0x01010000n ^ BigInt(size);
  const blocks = Math.max(1, Math.ceil(data.length / 128)), padded = Buffer.concat([data], blocks * 128);
  const turn = (value, bits) => ((value >> bits) | (value << (64n - bits))) & MASK;
  for (let block = 0; block < blocks; block++) {
    const m = Array.from({ length: 16 }, (_, at) => padded.readBigUInt64LE(block * 128 + at * 8)), v = [...h, ...IV];
    const last = block === blocks - 1;
    v[12] ^= BigInt(last ? data.length : (block + 1) * 128);
    if (last) v[14] ^= MASK;
    const mix = (a, b, c, d, x, y) => {
      v[a] = (v[a] + v[b] + x) & MASK; v[d] = turn(v[d] ^ v[a], 32n);
      v[c] = (v[c] + v[d]) & MASK; v[b] = turn(v[b] ^ v[c], 24n);
      v[a] = (v[a] + v[b] + y) & MASK; v[d] = turn(v[d] ^ v[a], 16n);
      v[c] = (v[c] + v[d]) & MASK; v[b] = turn(v[b] ^ v[c], 63n);
    };
    for (let round = 0; round < 12; round++) {
      const s = ROUNDS[round % 10];
      mix(0, 4, 8, 12, m[s[0]], m[s[1]]); mix(1, 5, 9, 13, m[s[2]], m[s[3]]);
      mix(2, 6, 10, 14, m[s[4]], m[s[5]]); mix(3, 7, 11, 15, m[s[6]], m[s[7]]);
      mix(0, 5, 10, 15, m[s[8]], m[s[9]]); mix(1, 6, 11, 12, m[s[10]], m[s[11]]);
      mix(2, 7, 8, 13, m[s[12]], m[s[13]]); mix(3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (let at = 0; at < 8; at++) h[at] ^= v[at] ^ v[at + 8];
  }
  return Buffer.from(BigUint64Array.from(h).buffer).subarray(0, size).toString("hex");
}

// -- Lines, names and access: P-2 to P-6, P-20 ---------------------------------------------------------------------------
const bytes = (text) => Buffer.byteLength(text);
const splitLines = (text) => text.split(/\r\n|\r|\n/).filter((line, at, all) => line || at < all.length - 1);

function decode(content) {
  if (typeof content === "string") return content.replace(/^\ufeff/, "");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(content.base64, "base64"));
  } catch {
    throw new Refused("not UTF-8");
  }
}

const nameKey = (name) => name.normalize("NFC").toLowerCase().normalize("NFC");
function checkName(kind, given) {
  let name = given;
  if (kind === "agent" && name.includes(":")) {
    const parts = name.split(":");
    name = parts.pop();
    if (parts.join(":").length === 1) throw new Refused("a drive letter");
    parts.forEach((part) => checkName("plugin", part));
  }
  const bare = name.normalize("NFC"), length = kind === "conversation" ? 128 : 64;
  if (!bare || [...bare].length > length || bytes(bare) > 255) throw new Refused("its length");
  if (bare.normalize("NFKC") !== bare || !/^[\p{L}\p{M}\p{Nd}._-]+$/u.test(bare)) throw new Refused("its characters");
  if (/^[.-]|[.-]$/.test(bare) || /^(con|prn|aux|nul|conin\$|conout\$|com\d|lpt\d)$/i.test(bare.split(".")[0])) throw new Refused("its ends, or a device");
  const scripts = ["Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Armenian"].filter((one) =>
    new RegExp(`\\p{Script=${one}}`, "u").test(bare));
  if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(bare)) scripts.push("CJK");
  if (scripts.length > 1) throw new Refused("two scripts");
  return bare;
}

function isReadOnly(agent, files) {
  for (const [path, text] of Object.entries(files)) {
    if (!/^\.claude\/agents\/.*\.md$/.test(path)) continue;
    const head = header(text);
    if (nameKey(head.name || path.replace(/.*\/|\.md$/g, "")) !== nameKey(agent)) continue;
    const list = (value) => (value || "").split(",").map((one) => one.trim()).filter(Boolean);
    const denied = list(head.disallowedTools), tools = head.tools === undefined ? ["Write", "Edit"] : list(head.tools);
    return !tools.some((tool) => (tool === "Write" || tool === "Edit") && !denied.includes(tool));
  }
  return ["architect", "reviewer"].includes(nameKey(agent));
}

function access({ as, in: where, target, may }, files) {
  if (as === undefined || as === null) return true;
  const agent = checkName("agent", as), [tier, owner] = target.split(/:(.*)/s);
  if (may === "write" && isReadOnly(agent, files)) return false;
  if (tier === "shared") return true;
  if (tier === "agent") return nameKey(agent) === nameKey(owner) || (may === "read" && nameKey(agent) === "architect");
  return !where || nameKey(where) === nameKey(owner);
}

// -- What is hidden and what is shown: P-25 to P-27 ---------------------------------------------------------------------
const MARKERS = ["agent-memory", "assistant", "bos", "end_of_turn", "eos", "function_calls", "function_results",
  "hook_context", "human", "invoke", "memory", "s", "session-checklist", "start_of_turn", "system", "system-reminder",
  "tool_call", "tool_result", "tool_use", "user"];
const LATIN = Object.fromEntries([..."аеорсухѕіһԁАВЕКМНОРСТУХЅІ"].map((one, at) => [one, [..."aeopcyxsihdABEKMHOPCTYXSI"][at]]));
const ANGLES = "<＜﹤‹〈⟨〈˂ᐸ";
const PICTURE = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]$/u;
function isHidden(before, one, after) {
  if (one === "\t") return false;
  if (/^[\u0020-\u007e]$/.test(one)) return false;
  if (one === "\ufe0e" || one === "\ufe0f") return !(PICTURE.test(before) || (/^[0-9#*]$/.test(before) && after === "\u20e3"));
  if (one === "\u200d" || one === "\u200c") {
    if (one === "\u200d" && PICTURE.test(after) && (PICTURE.test(before) || before === "\ufe0f")) return false;
    if (/^[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]$/.test(before)) return false;
    return !(/^[\u0600-\u08ff]$/.test(before) && /^[\u0600-\u08ff]$/.test(after));
  }
  return /^[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]$/u.test(one);
}

function escapeLine(line) {
  const characters = [...line.replace(/\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu, (flag) =>
    [...flag].map((one) => String.fromCodePoint(0xf0000 + (one.codePointAt(0) & 0xffff))).join(""))];
  let text = characters.map((one, at) => {
    const code = one.codePointAt(0);
    if (code >= 0xf0000 && code < 0x100000) {
      const low = code & 0xffff;
      return String.fromCodePoint(low === 0xf3f4 ? 0x1f3f4 : 0xe0000 + low);
    }
    if (!isHidden(characters[at - 1] || "", one, characters[at + 1] || "")) return one;
    if (code < 0x100) return "\\x" + code.toString(16).padStart(2, "0");
    return code < 0x10000 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
  }).join("");
  let out = "";
  for (let at = 0; at < text.length; at++) {
    if (ANGLES.includes(text[at]) && isMarker(text.slice(at + 1, at + 48))) out += "&lt;";
    else if (/^\[\/?INST\]/.test(text.slice(at))) out += "&#91;";
    else out += text[at];
  }
  return out;
}

function isMarker(rest) {
  const name = rest.replace(/^[\s/\\]+/, "").normalize("NFKC").replace(/./gu, (one) => LATIN[one] || one).toLowerCase();
  if (/^(\||<sys|antml:)/.test(name)) return true;
  return MARKERS.some((tag) => name.startsWith(tag) && !/^[\p{L}\p{N}_-]/u.test(name.slice(tag.length)));
}

function frontMatterEnd(lines) {
  if (lines[0] !== "---") return 0;
  const end = lines.findIndex((line, at) => at > 0 && /^(---|\.\.\.)\s*$/.test(line));
  return end < 0 ? 0 : end + 1;
}

function header(text) {
  const lines = splitLines(text), found = {};
  for (const line of lines.slice(1, Math.max(frontMatterEnd(lines) - 1, 1))) {
    const pair = /^\s*([\w-]+):\s*(.*?)\s*$/.exec(line);
    if (pair && found[pair[1]] === undefined) found[pair[1]] = pair[2].replace(/^"(.*)"$|^'(.*)'$/, "$1$2");
  }
  return found;
}

// Returns the text, and how many of its lines went whole.
function injected(text) {
  let lines = text.split("\n");
  const skipped = frontMatterEnd(lines);
  lines = lines.slice(skipped);
  const out = [];
  let removed = skipped, fence = "", ending = "", open = "";
  for (let line of lines) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line);
    if (!ending && mark && (!fence || (mark[1].startsWith(fence) && !line.trim().slice(mark[1].length)))) {
      fence = fence ? "" : mark[1];
      out.push(line);
      continue;
    }
    if (fence) { out.push(line); continue; }
    let left = "", at = 0, hid = false;
    while (at < line.length || ending) {
      if (ending) {
        const end = line.indexOf(ending, at);
        hid = true;
        if (end < 0) { at = line.length; break; }
        at = end + ending.length;
        ending = "";
        if (!open.trim()) { at = line.length; }
        continue;
      }
      const tick = /^`+/.exec(line.slice(at));
      if (tick) {
        const end = line.indexOf(tick[0], at + tick[0].length);
        const stop = end < 0 ? at + tick[0].length : end + tick[0].length;
        left += line.slice(at, stop);
        at = stop;
      } else if (line.startsWith("<!-- -->", at)) { left += "<!-- -->"; at += 8; }
      else if (/^<(!--|\?|![A-Za-z])/.test(line.slice(at))) {
        ending = line.startsWith("<!--", at) ? "-->" : line.startsWith("<?", at) ? "?>" : ">";
        open = left;
        at += 2;
      } else left += line[at++];
    }
    if (/^ {0,3}\[[^\]]+\]:\s*\S+\s*$/.test(line)) { left = ""; hid = true; }
    if (hid && !left.trim()) removed++;
    else out.push(left);
  }
  return { text: out.join("\n"), removed };
}

// -- Markdown blocks (CommonMark) ----------------------------------------------------------------------------------------
const ITEM = /^( {0,3})([-+*]|(\d{1,9})([.)]))(?:([ \t]+)(.*)|)$/s;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const FENCE = /^ {0,3}(`{3,}(?!.*`)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const blank = (line) => line === undefined || !line.trim();
const begins = (line) => RULE.test(line) || FENCE.test(line) || HEADING.test(line) || /^ {0,3}>/.test(line) ||
  /^ {0,3}<(!--|\?|![A-Z]|\/?(div|p|table|ul|ol|li|h\d|pre|details|section)\b)/i.test(line) ||
  (ITEM.test(line) && /\S/.test(ITEM.exec(line)[6] || "") && (ITEM.exec(line)[3] || "1") === "1");
function scan(lines, from) {
  const blocks = [];
  let at = from;
  const add = (kind, end, more = {}) => { blocks.push({ kind, start: at, end, ...more }); at = end; };
  const until = (from, stops) => { let end = from; while (end < lines.length && !stops(lines[end])) end++; return end; };
  while (at < lines.length) {
    const line = lines[at];
    let match, end;
    if (blank(line)) { at++; continue; }
    if ((match = HEADING.exec(line))) { add("heading", at + 1, { level: match[1].length, text: (match[2] || "").replace(/^#+$/, "") }); continue; }
    if (RULE.test(line)) { add("rule", at + 1); continue; }
    if ((match = FENCE.exec(line))) {
      const close = new RegExp(`^ {0,3}${match[1][0]}{${match[1].length},}[ \\t]*$`);
      add("prose", Math.min(until(at + 1, (one) => close.test(one)) + 1, lines.length)); continue;
    }
    if (/^ {0,3}<(!--|\?|![A-Z])/.test(line)) {
      const stop = line.includes("<!--") ? "-->" : line.includes("<?") ? "?>" : ">";
      add("comment", Math.min(until(at, (one) => one.includes(stop)) + 1, lines.length)); continue;
    }
    if ((match = ITEM.exec(line))) {
      const gap = (match[5] || " ").length;
      const column = match[1].length + match[2].length + (gap > 4 || match[6] === undefined ? 1 : gap);
      let lazy = !!match[6] && !begins(match[6]), last = at, fence = "", first = at + 1, inFirst = lazy;
      for (end = at + 1; end < lines.length; end++) {
        const text = lines[end], indent = /^ */.exec(text)[0].length;
        if (blank(text)) { lazy = inFirst = false; if (end === at + 1 && !match[6]) break; continue; }
        if (indent >= column) {
          const inner = text.slice(column);
          lazy = !FENCE.test(inner) && !HEADING.test(inner);
          if (inFirst && begins(inner)) inFirst = false;
          if (inFirst) first = end + 1;
          if (FENCE.test(inner)) fence = fence ? "" : "f";
        } else if (lazy && !fence && !begins(text) && !ITEM.test(text)) { if (inFirst) first = end + 1; } else break;
        last = end;
      }
      add("item", last + 1, { column, number: match[3], delimiter: match[4] || match[2], first });
      continue;
    }
    const leaves = (one) => blank(one) || (!/^ {0,3}>/.test(one) && (begins(one) || ITEM.test(one)));
    if (/^ {0,3}>/.test(line)) { add("prose", until(at + 1, leaves)); continue; }
    if (/^ {0,3}\[[^\]]+\]:\s*\S/.test(line)) { add("definition", at + 1); continue; }
    if (/^( {4}|\t)/.test(line)) { add("prose", until(at + 1, (one) => !/^( {4}|\t)/.test(one))); continue; }
    end = at + 1;
    let setext = 0;
    const table = /^ {0,3}\|?[ :-]*-[ :|-]*$/.test(lines[end] || "") && (lines[end] || "").includes("|") && line.includes("|");
    while (end < lines.length && !blank(lines[end])) {
      if ((match = /^ {0,3}(=+|-+)[ \t]*$/.exec(lines[end])) && !table) { setext = match[1][0] === "=" ? 1 : 2; break; }
      if (begins(lines[end])) break;
      end++;
    }
    if (setext) add("heading", end + 1, { level: setext, text: lines.slice(at, end).map((one) => one.trim()).join(" ") });
    else add(table ? "prose" : "paragraph", end);
  }
  return blocks;
}

// -- Dates and marks: P-13 to P-17 ---------------------------------------------------------------------------------------
const DAY = String.raw`\d{4}-\d{2}-\d{2}`;
const ANY = String.raw`\d{4}(?:-\d{2}-|\/\d{2}\/)\d{2}`;
const TIME = String.raw`(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?)?`;
const ORNAMENT = String.raw`(?:[*_]|[\u2190-\u2bff\u{1f000}-\u{1faff}\ufe0f\u200d\u20e3] *)*`;
function day(text) {
  const iso = text.replaceAll("/", "-"), moment = new Date(iso + "T00:00:00Z");
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(iso) && !iso.startsWith("0000") ? iso : null;
}

// Code and links, blanked out with as many characters.
const plainOf = (text) => text
  .replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, (one) => "\u0001".repeat(one.length))
  .replace(/\[\[[^\]]*\]\]|\[[^\]]*\]\([^)]*\)/g, (one) => "\u0001".repeat(one.length));
function marksOf(text) {
  const plain = plainOf(text);
  const found = { date: null, keep: /\[keep\]/i.test(plain), disputed: false, until: null, spans: [] };
  let at = /^\[[ xX]\] /.test(plain) ? 4 : 0, front = null;
  for (;;) {
    while (plain[at] === " ") at++;
    const rest = plain.slice(at);
    let match;
    if ((match = /^\[(keep|disputed)\]/i.exec(rest))) {
      found.disputed ||= match[1].toLowerCase() === "disputed";
    } else if ((match = new RegExp(`^\\[until (${DAY})\\]`, "i").exec(rest))) {
      if (!day(match[1])) break;
      found.until = found.until === null || match[1] < found.until ? match[1] : found.until;
    } else if (!front && (match = new RegExp(`^${ORNAMENT}\\[(${DAY})${TIME}\\](?!\\[)`, "u").exec(rest)) && day(match[1])) {
      front = { day: day(match[1]), start: at + match[0].indexOf("["), end: at + match[0].length, bracketed: true };
      at = front.end; continue;
    } else {
      match = new RegExp(`^(${ORNAMENT})(\\(?)(${ANY})${TIME}(\\)?)(?=[*_]*(?:$|[\\s:()\\[\\]]|[.,](?:\\s|$)))`, "u").exec(rest);
      if (!front && match && day(match[3]) && !!match[2] === !!match[4]) {
        const start = at + match[1].length + match[2].length;
        front = { day: day(match[3]), start, end: start + match[3].length, bracketed: false };
        if (new RegExp(`^${TIME}[ )*_]*(to |until |through |–|—|-)[ \\[(*_]*${ANY}`).test(plain.slice(front.end))) return found;
      }
      break;
    }
    found.spans.push([at, at + match[0].length]);
    at += match[0].length;
  }
  let newest = front && front.bracketed ? front : null;
  for (const match of plain.matchAll(new RegExp(`\\[(${DAY})\\](?!\\[)`, "g"))) {
    const own = day(match[1]);
    if (own && (!newest || own > newest.day)) newest = { day: own, start: match.index, end: match.index + 12, bracketed: true };
  }
  found.date = newest || front;
  if (!found.date) {
    const lead = new RegExp(`^[^:]+\\((?:[^)]*[,;] ?)?(${DAY})\\)[*_ ]*:`).exec(plain);
    const last = new RegExp(`[^\\]]\\((${DAY})\\)[\\s.*_]*$`).exec(plain), match = lead || last;
    if (match && day(match[1])) {
      const start = plain.indexOf(match[1], match.index);
      found.date = { day: day(match[1]), start, end: start + 10, bracketed: false };
    }
  }
  return found;
}

// What a paragraph says without its date and the marks in front: P-18.
function bare(text, marks) {
  const cuts = [...marks.spans];
  let date = marks.date, out = text;
  if (date) {
    const before = text.slice(0, date.start), after = text.slice(date.end);
    const opened = before.replace(/^(\[[ xX]\] |\[[^\]]*\] *)*/, "");
    if (/^[*_( ]*$/.test(opened) && !date.bracketed) {
      const head = before.slice(0, before.length - opened.length);
      let tail = after;
      if (opened.startsWith("(") && tail.startsWith(")")) tail = tail.slice(1);
      else if (opened && tail.startsWith(opened)) tail = tail.slice(opened.length);
      out = head + tail.replace(/^[ :\-–—/,.]+/, "");
    } else if (!date.bracketed && new RegExp(`^${ORNAMENT}$`, "u").test(opened)) {
      out = before.trimEnd() + " " + after.replace(/^[ :\-–—/,.]+/, "");
    } else if (before.endsWith("(") && after.startsWith(")")) out = before.slice(0, -1).trimEnd() + after.slice(1);
    else out = before.replace(/[ ,;]+$/, (one) => (before.trim() ? " " : one)) + (before.trim() ? after : after.replace(/^[ :\-–—]+/, ""));
    const shorter = text.length - out.length;
    cuts.forEach((cut, at) => { if (cut[0] >= date.end) cuts[at] = [Math.max(cut[0] - shorter, 0), cut[1] - shorter]; });
  }
  for (const [start, end] of cuts.reverse()) out = out.slice(0, start) + out.slice(end).replace(/^ +/, "");
  return out;
}

function headingDay(text) {
  if (/\b(through|until|pre|per|archived)\b/i.test(text)) return null;
  const match = new RegExp(`^[\\[(*_]*(${ANY})|(${ANY})[\\])*_]*$|\\([^()]*?(${ANY})[^()]*\\)[^()]*$`).exec(text.trim());
  return match ? day(match[1] || match[2] || match[3]) : null;
}

// -- Entries: P-7 to P-12, P-18, P-19 ------------------------------------------------------------------------------------
function labelOf(lines, block, next) {
  if (block.kind !== "paragraph" || !next || next.kind !== "item") return null;
  const parts = lines.slice(block.start, block.end).map((one) => one.trim());
  let first = parts.length - 1;
  while (first && !/[.!?:][*_]*$/.test(parts[first - 1])) first--;
  let text = parts.slice(first).join(" ");
  const cut = Math.max(...[". ", "! ", "? "].map((end) => text.lastIndexOf(end, text.length - 2)));
  if (cut > 0) text = text.slice(cut + 2);
  const inside = text.replace(/^[*_ ]+|[*_ ]+$/g, ""), bold = /^(\*\*|__)(?!.*\1.*\1).+\1$/.test(text);
  if (!inside || !(/[:：]$/.test(inside) || (bold && !/[.!?]$/.test(inside)))) return null;
  return { text, day: marksOf(text).date?.day || null, isEntry: text !== parts.join(" "), start: block.start, end: block.end };
}

function outline(lines, from) {
  const blocks = scan(lines, from), found = { blocks, entries: [], indexLines: [], headings: [] };
  let above = [], label = null, run = [];
  const paragraph = (block) => lines.slice(block.start, block.first ?? block.end).map((one, at) =>
    at ? one.trim() : one.slice(block.column ?? 0).trim()).join("\n");
  const add = (start, end, more) => {
    const entry = { start, end, above: [...above], label: null, ...more };
    entry.marks = marksOf(entry.paragraph);
    found.entries.push(entry);
    return entry;
  };
  const flush = () => {
    const starts = [];
    let dated = false;
    for (const block of run) {
      if (block.kind !== "paragraph") { if (!starts.length) starts.push(block.start); continue; }
      const text = paragraph(block), own = marksOf(text).date;
      const goesOn = text.startsWith("**") || /^\p{L}+:(\s|$)/u.test(text) || /[:：]$/.test(text);
      if (!starts.length || own || (dated && !goesOn)) { starts.push(block.start); dated = !!own; }
      for (let at = block.start + 1; at < block.end; at++) {
        const line = lines[at].trim();
        if (new RegExp(`^${DAY}:`).test(line) && day(line.slice(0, 10))) { starts.push(at); dated = true; }
      }
    }
    starts.forEach((start, at) => {
      let end = starts[at + 1] ?? run[run.length - 1].end;
      while (blank(lines[end - 1])) end--;
      const block = run.find((one) => one.start <= start && start < one.end);
      const text = block.kind === "paragraph" ? lines.slice(start, Math.min(end, block.end)).map((one) => one.trim()).join("\n") : "";
      add(start, end, { paragraph: text, column: /^\s*/.exec(lines[start])[0].length });
    });
    run = [];
  };
  for (let at = 0; at < blocks.length; at++) {
    const block = blocks[at];
    if (block.kind === "prose" || block.kind === "paragraph") {
      const here = labelOf(lines, block, blocks[at + 1]);
      if (!here) { run.push(block); label = null; continue; }
      flush();
      label = here;
      if (here.isEntry) { run = [block]; flush(); }
      continue;
    }
    flush();
    if (block.kind === "heading") {
      above = above.filter((one) => one.level < block.level);
      const heading = { start: block.start, end: block.end, level: block.level, text: block.text, day: found.headings.length ? headingDay(block.text) : null, source: "heading" };
      const next = blocks[at + 1];
      const line = next && /^\**Date\**:\**\s*(\d{4}-\d{2}-\d{2})\s*$/.exec(lines[next.start].trim());
      if (line && found.headings.length) { heading.day = day(line[1]); heading.source = "label"; }
      found.headings.push(heading);
      above.push(heading);
    }
    if (block.kind !== "item") { label = null; continue; }
    const text = paragraph(block), link = /^\[[^\]]*\]\(([^)/:\s]+\.md)\)/.exec(text);
    if (link) { found.indexLines.push({ start: block.start, end: block.end, file: link[1], above: [...above], label, isIndex: true }); continue; }
    let count = 1;
    if (block.number !== undefined && Number(block.number) <= 1 && !(blocks[at - 1]?.kind === "item" && blocks[at - 1].delimiter === block.delimiter)) {
      let stop = at;
      while (blocks[stop]?.kind === "item" && blocks[stop].delimiter === block.delimiter) stop++;
      const span = lines.slice(block.start, blocks[stop - 1].end);
      const plain = blocks.slice(at, stop).every((one) => { const own = marksOf(paragraph(one)); return !own.date && !own.until; });
      if (span.length <= 20 && bytes(span.join("\n")) + 1 <= 2000 && plain) count = stop - at;
    }
    const entry = add(block.start, blocks[at + count - 1].end, { paragraph: text, column: block.column, count, isItem: true });
    entry.label = label;
    at += count - 1;
  }
  flush();
  return found;
}

const idOf = (text, target) => {
  const [tier, owner] = target.split(/:(.*)/s);
  const folded = text.normalize("NFC").split(/[\s\u001c-\u001f\u0085]+/).filter(Boolean).join(" ");
  return blake2b(`${tier}\n${nameKey(owner || "")}\n${folded}`, 64).slice(0, 12);
};
function dateOf(one) {
  if (one.isIndex) return [null, null];
  const dated = [...one.above].reverse().find((heading) => heading.day);
  return one.marks.date ? [one.marks.date.day, "own mark"] : one.label?.day ? [one.label.day, "label"]
    : dated ? [dated.day, dated.source] : [null, null];
}

function parse(text, target) {
  const lines = splitLines(text), found = outline(lines, frontMatterEnd(lines)), seen = {};
  const entries = found.entries.map((one) => {
    const whole = lines.slice(one.start, one.end), size = one.paragraph.split("\n").length;
    const first = one.paragraph ? bare(one.paragraph, one.marks) : lines[one.start].slice(one.column);
    const rest = whole.slice(one.paragraph ? size : 1), said = idOf([first, ...rest].join("\n"), target);
    seen[said] = (seen[said] || 0) + 1;
    const [date, source] = dateOf(one);
    const words = [...(one.marks.keep ? ["keep"] : []), ...(one.marks.disputed ? ["disputed"] : []), ...(one.marks.until ? [`until ${one.marks.until}`] : [])];
    return { id: seen[said] > 1 ? `${said}-${seen[said]}` : said, text: whole.join("\n"), label: one.label?.text || "",
      section: one.above.length ? one.above[one.above.length - 1].text : "", date, date_source: source, marks: words,
      line: one.start + 1, last_line: one.end };
  });
  return { entries, index_lines: found.indexLines.map((one) => ({ line: one.start + 1, file: one.file })) };
}

// -- The block: P-21 to P-24, P-33 ---------------------------------------------------------------------------------------
const EMPTY = new Set(["empty", "n/a", "no entries", "no entries yet", "no knowledge yet", "no memories yet", "no memory yet",
  "none", "none yet", "nothing here yet", "nothing yet", "tbd", "to be filled in", "todo"]);
const holdsPlace = (line) => line.length <= 30 && EMPTY.has(line.replace(/^[\s\-+*_()[\].…]+|[\s\-+*_()[\].…]+$/g, "").toLowerCase());

// -- What does not fit: P-28 to P-32 -------------------------------------------------------------------------------------
const number = (iso) => Date.parse(iso + "T00:00:00Z") / 864e5;
const some = (count, of) => (count === of ? "" : `${count} of them `);
const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;
function omission(units, command, { older = false, cut = "", today }) {
  const said = [];
  if (units.length) {
    const days = units.map((one) => dateOf(one)[0]).filter(Boolean).sort();
    const expired = units.filter((one) => one.marks?.until && one.marks.until < today).length;
    const lines = units.reduce((sum, one) => sum + one.end - one.start, 0);
    const facts = [`${units.length} ${older ? "older " : ""}${units.length === 1 ? "entry" : "entries"} on ${plural(lines, "line", "lines")}`];
    const last = days[days.length - 1];
    if (days.length) facts.push(`${some(days.length, units.length)}dated ${days[0]}${last === days[0] ? "" : ` to ${last}`}`);
    if (expired) facts.push(`${some(expired, units.length)}expired`);
    said.push(`${facts.join(", ")}${facts.length > 1 ? "," : ""} ${units.length === 1 ? "is" : "are"} not shown`);
  }
  if (cut) said.push(cut);
  if (!said.length) said.push("there is no room for more");
  return `(${said.join("; ")}; \`${command}\` shows ${units.length === 1 && said.length === 1 ? "it" : "them"})`;
}

function cutLine(line) {
  if (bytes(line) <= 1000) return line;
  let out = "", size = 0;
  for (const one of line) { if ((size += bytes(one)) > 997) break; out += one; }
  return out + "…";
}

function givingUp(units, lines) {
  const days = units.map((one) => (dateOf(one)[0] ? number(dateOf(one)[0]) : null));
  const sorted = [...new Set(days.filter((one) => one !== null))].sort((a, b) => b - a);
  let newest = sorted.length ? sorted[sorted.length - 1] : null;
  for (const most of [3650, 365]) { const at = sorted.findIndex((one, place) => one - sorted[place + 1] <= most); if (at >= 0) newest = sorted[at]; }
  const keeping = newest === null ? -1 : days.lastIndexOf(newest);
  const sections = units.map((one) => one.above[one.above.length - 1]?.start ?? -1);
  const sizes = units.map((one) => bytes(lines.slice(one.start, one.end).join("\n")) + 1);
  const own = units.map((one, at) => at).filter((at) => units[at].marks?.date);
  const odd = new Set(own.filter((at, place) => place && place < own.length - 1 && Math.min(days[own[place - 1]], days[own[place + 1]]) - days[at] > 180));
  const left = {}, weight = {}, order = [], taken = new Set();
  sections.forEach((one, at) => { left[one] = (left[one] || 0) + 1; weight[one] = (weight[one] || 0) + sizes[at]; });
  const take = (indexes) => {
    const waiting = new Map();
    for (const at of indexes) if (!taken.has(at) && at !== keeping) waiting.set(sections[at], [...(waiting.get(sections[at]) || []), at]);
    while (waiting.size) {
      const section = [...waiting.keys()].sort((a, b) => weight[b] - weight[a] || a - b)[0];
      const at = waiting.get(section).shift();
      if (left[section] === 1) { waiting.delete(section); continue; }
      order.push(at); taken.add(at); left[section]--; weight[section] -= sizes[at];
      if (!waiting.get(section).length) waiting.delete(section);
    }
  };
  const on = (one) => days.map((_, at) => at).filter((at) => days[at] === one), oldest = [...sorted].reverse();
  for (const one of oldest) if (newest - one > 30) take(on(one).filter((at) => !odd.has(at)));
  const isOpening = (at) => !units[at].isIndex && !units[at].isItem && sizes[at] <= 12800 && !units.some((one, other) => other < at && sections[other] === sections[at] && (one.isItem || one.isIndex));
  take([...on(null).filter((at) => !isOpening(at)), ...on(null).filter(isOpening)]);
  for (const one of oldest) take(on(one));
  const rest = units.map((_, at) => at).filter((at) => !taken.has(at));
  return [...order, ...rest.sort((a, b) => (a === keeping) - (b === keeping) || (days[a] !== null) - (days[b] !== null) || days[a] - days[b] || sizes[b] - sizes[a] || a - b)];
}

// The text of some spans of a document, with the blank lines that its blocks need.
function sheet(lines, blocks, spans) {
  const pieces = [...spans].flatMap((span) => blocks.filter((one) => one.start < span.end && one.end > span.start).map((block) =>
    ({ block, start: Math.max(block.start, span.start), end: Math.min(block.end, span.end), label: span.label ?? (span.isItem || span.isIndex ? null : undefined) })));
  const unique = [...new Map(pieces.map((one) => [one.start, one])).values()].sort((a, b) => a.start - b.start);
  const out = [];
  unique.forEach((one, at) => {
    const above = unique[at - 1], text = lines.slice(one.start, one.end);
    if (above && above.end !== one.start && above.block !== one.block) {
      const before = lines.slice(above.start, above.end);
      const stays = (between) => { const both = scan([...before, ...between, ...text], 0); return both.length === 2 && both[0].end === before.length && both[0].kind === above.block.kind && both[1].kind === one.block.kind; };
      const between = blocks.some((block) => block.start >= above.end && block.end <= one.start);
      const misleads = between && one.block.kind === "item" && above.block.kind === "item" && (above.label?.start ?? -1) !== (one.label?.start ?? -1);
      out.push(...(misleads ? ["", "<!-- -->", ""] : stays([]) ? [] : between && !stays([""]) ? ["", "<!-- -->", ""] : [""]));
    }
    out.push(...text);
  });
  return out;
}

function fit(source, raw, room, command, today) {
  const found = outline(source, 0), lines = raw.map(cutLine);
  const all = [...found.entries, ...found.indexLines].sort((a, b) => a.start - b.start);
  const told = all.filter((one) => one.isIndex || one.end > one.start + 1 || one.label || !holdsPlace(source[one.start]));
  const ended = (one) => one.marks?.until && one.marks.until < today;
  const has = (text, note) => { const whole = [...text, note].join("\n"); return text.length + 1 <= room.lines && bytes(whole) <= room.bytes && whole.length <= room.chars; };
  const holds = (text) => text.length <= room.lines && bytes(text.join("\n")) <= room.bytes && text.join("\n").length <= room.chars;
  const whole = !told.some(ended);
  if (whole && told.length === all.length && holds(lines)) return lines;
  const labels = new Set(told.map((one) => one.label?.start));
  const units = told.filter((one) => !ended(one) && !(labels.has(one.start) && !one.isItem));
  const spans = (one) => [...one.above, ...(one.label ? [one.label] : []), one], title = found.headings.slice(0, 1);
  const full = sheet(lines, found.blocks, [...title, ...units.flatMap(spans)]);
  if (whole && holds(full)) return full;
  const longest = omission(told, command, { older: told.every((one) => dateOf(one)[0]), today });
  if (!has(sheet(lines, found.blocks, title), longest)) return [longest];
  const order = givingUp(units, lines), shown = [];
  for (const at of [...order].reverse()) {
    const next = sheet(lines, found.blocks, [...title, ...[...shown, units[at]].flatMap(spans)]);
    if (has(next, longest)) shown.push(units[at]);
  }
  const gone = told.filter((one) => !shown.includes(one) && !(labels.has(one.start) && !one.isItem && shown.some((other) => other.label?.start === one.start)));
  const last = units[order[order.length - 1]];
  if (last && !has(sheet(lines, found.blocks, [...title, ...spans(last)]), longest)) {
    const others = gone.filter((one) => one !== last), size = last.end - last.start;
    for (let count = Math.min(size - 1, room.lines); count > 0; count--) {
      const text = sheet(lines, found.blocks, [...title, ...shown.flatMap(spans), ...spans(last).slice(0, -1), { ...last, end: last.start + count }]);
      if (blank(lines[last.start + count - 1])) text.push("");
      const part = [...text, omission(others, command, { cut: `one entry is cut after ${count} of ${size} lines`, today })];
      if (holds(part)) return part;
    }
  }
  const days = shown.map((one) => dateOf(one)[0]).filter(Boolean).sort();
  const older = days.length > 0 && gone.every((one) => dateOf(one)[0] && dateOf(one)[0] <= days[0]);
  return [...sheet(lines, found.blocks, [...title, ...shown.flatMap(spans)]), omission(gone, command, { older, today })];
}

function recall(args, files, clock) {
  const today = clock.slice(0, 10), maxLines = args.max_lines ?? 200;
  const bounded = args.max_chars !== undefined || args.max_tokens !== undefined, wanted = [["shared", "", SHARED]];
  const find = (folder, name, rest) => {
    const paths = Object.keys(files).filter((path) => path.startsWith(folder) && path.endsWith(rest));
    const path = paths.find((one) => nameKey(one.slice(folder.length, -rest.length)) === nameKey(name));
    return path && [path.slice(folder.length, -rest.length), path];
  };
  if (args.agent) {
    const place = find(".scaffolding/agent-memory/agents/", checkName("agent", args.agent), "/MEMORY.md");
    if (place) wanted.push(["agent", ...place]);
  }
  if (args.conversation) {
    const place = find(".scaffolding/conversations/", checkName("conversation", args.conversation), "/agent-memory/context.md");
    if (place) wanted.push(["conversation", ...place]);
  }
  const parts = [], unread = [];
  for (const [tier, owner, path] of wanted) {
    if (files[path] === undefined) continue;
    const tag = (lines) => `<memory tier="${tier}"${owner && ` ${tier}="${owner}"`} path="${path}" lines="${lines}">`;
    let source;
    try { source = decode(files[path]); } catch (error) {
      const body = `(not read: ${path}: ${error.message})`;
      unread.push(owner ? `${tier}:${owner}` : tier);
      parts.push({ tag, all: 0, lines: 0, source: [], escaped: [], over: false, body, found: { entries: [], indexLines: [] }, command: "" });
      continue;
    }
    source = source.replace(/\r\n|\r/g, "\n");
    const all = splitLines(source).length;
    const { text, removed } = injected(source), lines = text.replace(/\n$/, "").split("\n");
    if (!lines.some((line) => line.trim() && !line.startsWith("#") && line.trim() !== "<!-- -->" && !holdsPlace(line.trim()))) continue;
    const escaped = lines.map(escapeLine), words = ["amp show", ...(bounded || !owner ? [tier] : [])];
    for (const one of ["agent", "conversation"]) if (args[one] && (bounded || one === tier)) words.push(`--${one} ${checkName(one, args[one])}`);
    if (/\[until /i.test(text)) words.push(`--today ${today}`);
    for (const one of ["lines", "chars", "tokens"]) if (args[`max_${one}`]) words.push(`--max-${one} ${args[`max_${one}`]}`);
    const found = outline(lines, 0), expired = found.entries.some((one) => one.marks.until && one.marks.until < today);
    const over = all - removed > maxLines || bytes(escaped.join("\n")) > 25600 || expired;
    parts.push({ tag, all, lines: all - removed, source: lines, escaped, over, body: escaped.join("\n"), found, command: [...words, "--left-out"].join(" ") });
  }
  const opening = (part) => part.tag(part.lines < part.all ? `${part.lines} of ${part.all}` : part.all);
  const render = () => {
    const id = blake2b(parts.map((part) => opening(part) + part.body).join(""), 8);
    return [`<agent-memory id="${id}">`, FRAMING, ...parts.map((part) => `${opening(part)}\n${part.body}\n</memory>`), `</agent-memory id="${id}">`].join("\n");
  };
  const refit = (part, room) => {
    const text = fit(part.source, part.escaped, { lines: maxLines, ...room }, part.command, today);
    part.body = text.join("\n"); part.lines = text.length;
  };
  const most = { chars: args.max_chars ?? Infinity, bytes: 4 * (args.max_tokens ?? Infinity) };
  const give = (text) => ({ text, not_read: unread });
  if (!parts.length) return give("");
  if (!bounded) parts.filter((part) => part.over).forEach((part) => refit(part, { bytes: 25600, chars: Infinity }));
  if (!bounded || (!parts.some((part) => part.over) && render().length <= most.chars && bytes(render()) <= most.bytes)) return give(render());
  const frame = [`<agent-memory id="${"0".repeat(16)}">`, FRAMING, ...parts.map((part) => `${part.tag(part.all ? `${part.all - 1} of ${part.all}` : 0)}\n\n</memory>`), `</agent-memory id="${"0".repeat(16)}">`].join("\n");
  let roomBytes = most.bytes - bytes(frame), roomChars = most.chars - frame.length;
  for (const part of parts) {
    const told = [...part.found.entries, ...part.found.indexLines].filter((one) => one.isIndex || one.end > one.start + 1 || one.label || !holdsPlace(part.source[one.start]));
    part.size = bytes(part.body);
    part.floor = bytes(omission(told, part.command, { today }));
    if (!part.over) part.floor = Math.min(part.size, part.floor);
  }
  if (parts.reduce((sum, part) => sum + part.floor, 0) > Math.min(roomBytes, roomChars)) return give("");
  const order = [...parts].sort((a, b) => Math.min(a.size, 25600) - Math.min(b.size, 25600));
  order.forEach((part, at) => {
    const waiting = order.slice(at + 1), kept = waiting.reduce((sum, one) => sum + one.floor, 0);
    const share = (room) => Math.max(part.floor, Math.min(Math.floor(room / (waiting.length + 1)), room - kept));
    if (part.size > share(roomBytes) || part.body.length > share(roomChars) || part.over) refit(part, { bytes: Math.min(25600, share(roomBytes)), chars: share(roomChars) });
    roomBytes -= bytes(part.body); roomChars -= part.body.length;
  });
  return give(render());
}

// -- The line protocol ---------------------------------------------------------------------------------------------------
const CALLS = {
  parse: (args, files) => parse(args.text !== undefined ? decode(args.text) : decode(files[args.path]), args.target || "shared"),
  recall: (args, files, clock) => recall(args, files, clock),
  id: (args) => ({ id: idOf(args.text, args.target) }),
  escape: (args) => ({ text: args.text.split("\n").map(escapeLine).join("\n") }),
  injected: (args) => ({ text: injected(args.text).text }),
  check_name: (args) => ({ name: checkName(args.kind, args.name) }),
  access: (args, files) => ({ allowed: access(args, files) }),
  budget: (args) => ({ lines: splitLines(args.text).length, bytes: bytes(args.text), tokens: Math.ceil(bytes(args.text) / 4) }),
  note: (args) => {
    const head = header(args.text), title = /^# +(.*)$/m.exec(args.text)?.[1];
    const slug = args.file.replace(/\.md$/, "").replace(/^(user|feedback|project|reference)_/, "").replaceAll(/[-_]/g, " ");
    return { type: head.type ?? null, description: head.description ?? "", title: title ?? slug[0].toUpperCase() + slug.slice(1) };
  },
};
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, call, args, files, clock } = JSON.parse(line);
  let answer;
  try {
    if (!CALLS[call]) throw new Refused(`there is no call ${call}`);
    answer = { result: CALLS[call](args, files, clock) };
  } catch (error) {
    answer = { refused: error.message };
  }
  process.stdout.write(JSON.stringify({ id, ...answer }) + "\n");
});
