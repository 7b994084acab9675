"""The words that notes about software have in common and no passphrase is made of."""

WORDS = """
    abgelaufen about above acceptance accepted accepts access acme across action actions active actual actually
    add added adding additional adds admin admins after against agent agents algorithm alias all alle allow
    allowed almacenada almeno alone alongside already also altijd always analysis and answer any anything api
    app appear appears append applied applies apply approach approval approved archive archived are args
    argument array arrays artifact artifacts asked assert asserting assertion assertions asserts assigned async
    attempts audience audit auth author auto autofill available avec avere avoid avoids await aware back backend
    background bare base based baseline bash batch bcrypt bearer because been before behavior behind being below
    benutzer best better between beyond billing bin binary block blocked blocking blocks body bool both boundary
    branch branches breach break breaks broken browser brute budget bug bugs build builder building builds built
    bullet bullets bump but button bytes cache caching cada caduca call callback called calling calls cambiar
    cambiare can cannot canonical capability caracteres caratteri card cargo carried carries carry case cases
    cast catalog catch catches caught cause causes chain change changed changer changes char characters
    chat check checked checking checklist checkout checks chiffres cifrada cifrata cipher circular claim claims
    class classes claude clean cleanup clear cli client clients close closed cmd code codebase codes codex color
    column com command commands comment comments commit commits committed common como comparison compatible
    compile complete completed completion complex complexity compliance component components compose compromised
    con concurrent condition conditions config configs confirm confirmed conflicts connection consistent const
    constant constants constraint contained container contains contenir content context contexts continue
    contract control controls convention cookies copies copilot copy core corp corpus correctly cost could count
    counts cover coverage covered covering covers crash crates create created creates creating creation
    criptografada critical cross current currently custom customer customers cwd cycle daily dans darf das
    dashboard data date dead debe deben debug decision decisions declared decryption dedicated dedup default
    defaults defect defects deferred define defined defines definition dei del delete deleted della dem demand
    den dependency depends deployment deps depth der derived des describe design desktop detailed details detect
    detection dev deve developer dialog dias did die diff different digits dimenticata dir direct direction
    directly directory disabled discipline discovery disk dispatch display dist doc docker docs document
    documented does doesn doit doivent domain don done dos dotnet double down drift driven drop dropped due
    duplicate duplicated during dynamic each earlier early echo edge edit edits een effect effort eight ein eine
    einen either else embedded emit emits employees empty enabled enables encrypted encryption end endpoint
    endpoints enforced engine entire entirely entities entity entries entry enum env equivalent error errors
    escape essere est esta este esto etc even event events every everybody everyone everything exact exactly
    example examples exception excluded exec execute executed execution exist existing exists exit exits expect
    expected expira expirada expire expired expires expiry explicit explicitly export exported exports extension
    external extra extract extraction fact facts fail failed failing fails failure failures fall fallback falls
    falsch false fast feature features feedback fetch field fields file filename files filesystem filter
    filtering filters final find finding findings fine fires first fix fixed fixes fixture flag flagged flags
    flow flows focus focused folder follow for force forgot forgotten form format forte found foundation four
    fraca fragile framework framing free fresh from frontend full fully function functional functions future gap
    gaps gate gated gates generate generated generates generation generator generic gespeichert get gets giorni
    git github gli global good grants graph green grep group guard guardada guess guests guidance guide had hand
    handle handled handler handlers handles handling hard hardcoded hardening harness has hash hashed have
    header help helper here het high hint hints history hit holds home hook hooks host how html http https human
    identical identified identity ignored image immer impact impl implement import imported imports inbox
    include included includes including incomplete index info infra init initial injected injection inline input
    inputs inside install instance instances instead interface interfaces internal internally into invalid
    invocation invoice isolated isolation issue issuer issues ist item items iteration iterations its itself
    jamais job jours json just keep keeps kept key keychain keyring keys kind knowledge known label labels land
    landed lands lang language large las last later latest layer layers layout lazy lead leak leaked learnings
    leaves leer left legacy length les let letras lettere letters lettres level lib library liegt lifetime like
    likely limit limits line lines link lint list lists literal live lives load loaded loader loading loads
    local locations lockout log logged logging logic login logs long longer looks lookup loop los lost low
    lowercase machine made mai main make makes making management manager managers mandatory manual many map
    mapping maps markdown masked match matches matching material matters max maximum may mcp mean means
    mechanism memories memory menos merge merged message messages meta metadata meter method methods mid
    migration min mindestens minimaal minimal minimum minor mirrors mismatch missing mit mjs mobile mock mocks
    modal mode model models modified modify module modules moet moins monorepo monthly more most mounted move
    moved multi multiple muss must mutation name named names namespace naming native need needed needs negative
    nel nested net network never new next nicht nie niet nobody node nodes non none nooit normal normalize nos
    not note notes nothing now npm null number numbers numeri numeros nunca nutzer obbligatoria object
    obligatoire obligatoria obligatorio observed oder off offset ogni ohne old once one ones only open operation
    operations operator operators opt option optional options order ordering org original other otherwise out
    output outputs outside over overlay override overrides own owner ownership owns package packages packaging
    page pages pagination par para parallel param parameter parameters params parent parity parse parser parsing
    part partial pass passed passes passing password patch path paths pattern patterns payload pelo pending
    people per perf pero persist persistent phase phases pin pinned pipeline pkg plain plaintext plan planning
    plans platform plugin plus point points policies policy por port portal position positive post pour pre
    prefer preference prefix present preserve preserves prevent prevents previous primary prints priority
    private probe problem process processes processing prod product production profile progress project projects
    prompt prompts proof prop proper properties property proposal props protocol provenance provide provides
    provisioned proxy public publish pull pure push pytest python quality quarterly que query questions quick
    race rate rather raw reaches react read reading reads ready real reason reasoning recent record recorded
    recovery recurring redacted ref refactor reference references refresh refreshes refs regardless regex
    register registered registry regression reject rejected rejects related relative release relevant remain
    remaining remains remote remove removed rename renamed render rendering renders replace replaced replaces
    repo report reported reporting reports repos repository request requested requests require required
    requirements requires requis research reset resolution resolve resolved resolver resolves response responses
    rest result results retry return returned returns reuse review reviewed reviewer reviewing revoked rewrite
    rich right risk role root rotate rotated rotating rotation round route router routes routing row rows rule
    rules run running runs runtime rust safe safety salted salvata same sanitized sans save says scade scaduta
    scan scenario scenarios schema schemas scope scoped scopes screen script scripts scrubbed sdk seam search
    second secret secrets section sections secure securely security see seed sees selected selection selector
    self sem semantic semantics sempre send sentence separate server service services session sessions
    set sets settings setup shape shapes share shared sharing shell ship shipped ships short should show shows
    side siempre sign signal signature signed signing signup silent silently sin since single site sites sixteen
    size skill skills skip skipped skips small smoke snapshot soll somebody something sont sort source sources
    spawn spec specific specs spinner split squad src stable stack stage stale standalone standard start started
    startup stat state states static stats status stay stays steht step steps still stop storage store stored
    stores strategy stream streaming strength strict string strings struct structure structured style sub
    success such suite summary support surface sweep symbol symbols sync syntax system table tables tag tage
    tags takes target targeted targets task tasks team tekens temp template templates tenant tener ter test
    tested testing tests text than that the their them theme then there these they this those thread three
    threshold through tiene tier time timeline timeout timestamp timing tmp toggle token tokens toml too tool
    tools tooltip top total touch toujours tous trace tracked tracking tracks trap traversal tree triage trigger
    triggers trip trocar true trust truth try tsx twelve two txt type typed types uma umrs una unchanged und
    under unified unique unit unless uno until unused update updated updates upgrade uppercase url usage use
    used user users uses using usuario usuarios utente utenti utilisateur utilisateurs valid validate validated
    validates validation value values van var variable variant vars vault vazia verbatim verdict vergessen
    verified verifier verify version versions via view violation visible visual vitest voor vuota wait wants
    warning warnings was way web weekly well werden were what when where whether which while whole whose why
    wide widget will wins wird wire wiring with within without wordt work worker workflow workflows working
    works workspace worktree would wrapper wrapping write writer writes writing written wrong yaml yearly yet
    yml you your zeichen zero
"""
