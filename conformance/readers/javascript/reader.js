'use strict';
// A reader of the agent memory protocol: a request a line, and an answer a line. P-1 … are the numbers of its rules.
const [MAX_LINES, MAX_BYTES, MAX_LINE_BYTES] = [200, 25600, 1000];
const FRAMING = "This repository's agents wrote these notes earlier. " +
  'They are reference data about the project; they may be out of date.';
class Refused extends Error {}
const [bytesOf, charsOf] = [(text) => Buffer.byteLength(text, 'utf8'), (text) => [...text].length];
const blake2b = (text) => require('crypto').createHash('blake2b512').update(text).digest('hex');
const [isBlank, lastOf] = [(text) => /^[ \t]*$/.test(text), (list) => list[list.length - 1]];
const [isText, indentOf] = [(text) => !isBlank(text), (text) => text.length - text.trimStart().length];
// P-6: a line ends at LF, CRLF or CR and at nothing else.
const splitLines = (text) => text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/)
  .filter((line, i, all) => line !== '' || i < all.length - 1);
// The case folding of P-3. JavaScript has none; upper and then lower case comes to the same, save for two letters.
const foldName = (name) => name.normalize('NFC').replace(/[^\u0131]/gu, (char) => char.toUpperCase().toLowerCase())
  .replace(/\u03c2/g, '\u03c3').normalize('NFC');
const isSameName = (name, other) => foldName(name) === foldName(other);
const readFile = (file, bytes = Buffer.from(file.base64 ?? file, file.base64 === undefined ? 'utf8' : 'base64')) =>
  (Buffer.from(bytes.toString('utf8'), 'utf8').equals(bytes) ? bytes.toString('utf8') : null); // null: not UTF-8
// The kinds of HTML blocks: how one begins, and how it ends (null: before a blank line).
const TAGS = 'address|article|aside|base(?:font)?|blockquote|body|caption|center|col(?:group)?|d[dlt]|details|dialog|' +
  'dir|div|fieldset|figcaption|figure|footer|form|frame(?:set)?|h[1-6r]|head(?:er)?|html|iframe|legend|li|link|main|' +
  'menu(?:item)?|nav|noframes|[ou]l|opt(?:group|ion)|p|param|search|section|summary|t(?:[dhr]|able|body|foot|head|' +
  'itle|rack)';
const HTML = [[/^<(?:script|pre|style|textarea)(?:\s|>|$)/i, /<\/(?:script|pre|style|textarea)>/i],
  [/^<!--/, /-->/], [/^<\?/, /\?>/], [/^<![A-Za-z]/, />/], [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(`^</?(?:${TAGS})(?:\\s|/?>|$)`, 'i'), null], [/^<\/?[A-Za-z][\w-]*(?:\s[^<>]*)?\/?>\s*$/, null]];
const [HIDDEN_KINDS, LONE_TAG, RULE, QUOTE] = [[1, 2, 3], 6, /^ {0,3}([-*_])(?: *\1){2,} *$/, /^ {0,3}> ?/];
const [FENCE, UNDERLINE] = [/^ {0,3}(`{3,}(?!.*`)|~{3,})/, /^ {0,3}(?:(=+)|-+) *$/];
const HEADING = /^ {0,3}(#{1,6})(?: +|$)(.*?)(?:(?:^| +)#+)? *$/;
const BULLET = /^( {0,3}(?:[-+*]|(\d{1,9})[.)]))( +(?=\S)|\s*$)/;
const DELIMITERS = /^ {0,3}(?:\|(?: *:?-+:? *\|)* *:?-+:? *\|?|(?: *:?-+:? *\|)+(?: *:?-+:?)?) *$/;
const DEFINITION = new RegExp('^ {0,3}\\[(?!\\s*\\])(?:[^\\[\\]\\\\]|\\\\.)+\\]:\\s*(?:<[^<>\\n]*>|[^\\s<]\\S*)' +
  '(?:\\s+(?:"[^"]*"|\'[^\']*\'|\\([^()]*\\)))?[ \\t]*(?:\\n|$)');
const htmlKind = (text) => HTML.findIndex(([begin]) => begin.test(text.trimStart()));
const cellsOf = (row) => row.trim().replace(/^\||\|$/g, '').replace(/\\\|/g, '').split('|').length;
const addChar = (line, char) => line + (char === '\t' ? ' '.repeat(4 - (line.length % 4)) : char);
// How many lines come before the first one, from a number on, that passes a test; and how many with that one.
const lengthTo = (lines, from, test) => lines.slice(0, from).length +
  [...lines.slice(from), { isEnd: true }].findIndex(({ text, isEnd }) => isEnd || test(text));
const lengthWith = (lines, from, test) => Math.min(lines.length, lengthTo(lines, from, test) + 1);
// CommonMark with tables. A line is { text, at, lazy }, with its number and whether it lacks the mark of its container.
// A block has `type`, `start`, `end` (the line after it) and `children`.
const parseBlocks = (lines, from) =>
  blocksOf(lines.map((line, at) => ({ text: [...line].reduce(addChar, ''), at })).slice(from));
function blocksOf(lines) {
  const blocks = [];
  for (let next = lengthTo(lines, 0, isText); next < lines.length; next = lengthTo(lines, next, isText)) {
    const block = readBlock(lines.slice(next));
    const used = lines.slice(next, next + block.count);
    while (isBlank(lastOf(used).text) && block.type !== 'fence') used.pop();
    blocks.push({ children: [], ...block, start: used[0].at, end: lastOf(used).at + 1 });
    next += block.count;
  }
  return blocks;
}
function readBlock(lines) {
  const { text, lazy } = lines[0];
  if (lazy) return readParagraph(lines);
  const isShallow = (line) => isText(line) && indentOf(line) < 4;
  if (!isShallow(text)) return { type: 'code', count: lengthTo(lines, 1, isShallow) };
  const [, fence] = FENCE.exec(text) || [];
  const close = fence && new RegExp(`^ {0,3}${fence[0]}{${fence.length},} *$`);
  if (fence) {
    const isOpen = !lines.slice(1).some((line) => close.test(line.text));
    return { type: 'fence', count: lengthWith(lines, 1, (line) => close.test(line)), open: isOpen && fence };
  }
  const [heading, hashes, title] = HEADING.exec(text) || [];
  if (heading) return { type: 'heading', count: 1, level: hashes.length, text: title.trim() };
  if (RULE.test(text)) return { type: 'rule', count: 1 };
  const inQuote = (line) => (QUOTE.test(line) ? line.replace(QUOTE, '') : null);
  if (QUOTE.test(text)) return readContainer({ type: 'quote' }, lines, inQuote(text), inQuote);
  if (BULLET.test(text)) return readList(lines);
  const kind = htmlKind(text);
  const [, end] = HTML[kind] || [];
  const count = end ? lengthWith(lines, 0, (line) => end.test(line)) : lengthTo(lines, 1, isBlank);
  return kind < 0 ? readParagraph(lines) : { type: 'html', kind, count };
}
function beginsBlock(text, inParagraph) {
  if (indentOf(text) >= 4) return false;
  if ([FENCE, HEADING, RULE, QUOTE].some((pattern) => pattern.test(text))) return true;
  const [bullet, mark, number] = BULLET.exec(text) || [];
  if (mark) return !inParagraph || (bullet !== text && [undefined, '1'].includes(number));
  return htmlKind(text) >= 0 && htmlKind(text) !== LONE_TAG;
}
// A quote or an item. `inside` gives what a line has in it, or null where the line has not its mark.
function readContainer(block, lines, first, inside) {
  const inner = [{ ...lines[0], text: first }];
  for (const line of lines.slice(1)) {
    const rest = line.lazy ? null : inside(line.text, inner);
    const mayGoOn = isText(line.text) && (line.lazy || !beginsBlock(line.text, false));
    if (rest === null && !(mayGoOn && (lastOf(inner).lazy || isOpen(inner)))) break;
    inner.push(rest === null ? { ...line, lazy: true } : { ...line, text: rest });
  }
  while (inner.length > 1 && isBlank(lastOf(inner).text)) inner.pop();
  return { ...block, count: inner.length, start: inner[0].at, end: lastOf(inner).at + 1, children: blocksOf(inner) };
}
const isOpen = (lines) => isText(lastOf(lines).text) && deepest(lastOf(blocksOf(lines))).type === 'paragraph';
function readList(lines) {
  let [count, children, [, mark, number]] = [0, [], BULLET.exec(lines[0].text)];
  for (let next = 0; next < lines.length; next = lengthTo(lines, count, isText)) {
    const { text, lazy } = lines[next];
    const bullet = lazy || RULE.test(text) ? null : BULLET.exec(text);
    if (!bullet || lastOf(bullet[1]) !== lastOf(mark)) break;
    children.push(readItem(lines.slice(next), bullet));
    count = next + lastOf(children).count;
  }
  return { type: 'list', count, children, first: number === undefined ? null : Number(number) };
}
function readItem(lines, [all, mark, , gap]) {
  const indent = mark.length + (gap.length > 4 || all === lines[0].text ? 1 : gap.length);
  const inside = (line, inner) => (isBlank(line) && inner.some((other) => isText(other.text)) ? ''
    : isText(line) && indentOf(line) >= indent ? line.slice(indent) : null);
  return readContainer({ type: 'item', marker: lastOf(mark) }, lines, lines[0].text.slice(indent), inside);
}
// A paragraph, or what begins like one: a link definition, a table, a heading with an underline.
function readParagraph(lines) {
  const text = [lines[0].text.trim()];
  for (const { text: line, lazy } of lines.slice(1)) {
    const under = !lazy && UNDERLINE.exec(line);
    if (under) return { type: 'heading', count: text.length + 1, level: under[1] ? 1 : 2, text: text.join(' ') };
    const isEnd = (row) => isBlank(row) || beginsBlock(row, true);
    const isTable = DELIMITERS.test(line) && cellsOf(line) === cellsOf(lastOf(text));
    if (isTable && text.length === 1) return { type: 'table', count: lengthTo(lines, 2, isEnd) };
    if (isTable) text.pop();
    if (isTable || isBlank(line) || (!lazy && isEnd(line))) break;
    text.push(line.trim());
  }
  let rest = text.join('\n');
  for (let found; (found = DEFINITION.exec(rest));) rest = rest.slice(found[0].length);
  const defined = text.length - (rest === '' ? 0 : rest.split('\n').length);
  return defined ? { type: 'definition', count: defined } : { type: 'paragraph', count: text.length, text };
}
function frontMatterLength(lines) { // P-10: how many lines the front matter has, 0 where there is none
  const end = lines.findIndex((line, i) => i > 0 && /^---[ \t]*$/.test(line));
  const said = lines.slice(1, end).filter(isText);
  const isKey = (line = '') => /^[^\s#[{|>&*!%@`-][^:]*:(?:\s|$)/.test(line);
  return /^---[ \t]*$/.test(lines[0] || '') && end > 0 && (!said.length || isKey(said.find((line) => line[0] !== '#')))
    ? end + 1 : 0;
}
const DAY = '\\d{4}-\\d\\d-\\d\\d';
const TIME = '(?:[ T]?\\d\\d:\\d\\d(?::\\d\\d(?:\\.\\d+)?)?(?:Z| UTC| GMT| *[+-]\\d\\d:?\\d\\d)?)?';
const EMOJI = '(?:[\\u2190-\\u2bff\\u{1f000}-\\u{1faff}\\u200d\\ufe0f\\u20e3] *)';
const ORNAMENT = `(?:[*_]|${EMOJI})*`;
const FRONT_DATE = new RegExp(`^(?:(\\[)(${DAY})${TIME}\\]|(\\()(${DAY})${TIME}\\)|(${DAY}|\\d{4}/\\d\\d/\\d\\d))`);
const SETS_OFF = new RegExp(`^[*_]*${TIME}[*_]*(?=$|[\\s:()[\\]]|[.,](?:\\s|$))`);
const RANGE = new RegExp(`^${TIME}[ )*_]*(?:(?:to|until|through) |[-\u2013\u2014])[ [(*_]*\\d{4}[-/]\\d\\d[-/]\\d\\d`);
const LEAD_IN = /^((?:[^:]|(?<=\d):(?=\d))*[^:\]]\()((?:[^():]|(?<=\d):(?=\d))*)\)[*_ ]*:/;
const ALONE = new RegExp(`(?<=^\\s*|[,;]\\s*)${DAY}(?=${TIME}\\s*(?:[,;]|$))`);
const [CLOSING, JOINED] = [new RegExp(`(?<=[^\\]]\\()${DAY}(?=\\)[\\s.*_]*$)`), '[\\p{L}\\p{N}_/\\\\.#-]'];
const STANDING = new RegExp(`(?<!${JOINED})${DAY}(?:(?!${JOINED})|(?=[ T]\\d\\d:\\d\\d))`, 'gu');
const MARK = new RegExp(`^\\[(?:keep|(disputed)|until (${DAY}))\\]`, 'i');
const CODE_SPAN = '(?<!`)(`+)(?!`)[^]*?(?<!`)\\1(?!`)';
const CODE = new RegExp(`${CODE_SPAN}|<!--[^]*?-->|<[A-Za-z][^<>\\s]*:[^<>\\s]*>`, 'g');
const LINK = new RegExp('\\[\\[[^[\\]]*\\]\\]|\\[(?:[^[\\]]|\\[[^[\\]]*\\])*\\]' +
  '(?:\\([^()\\s]*(?:\\s[^()]*)?\\)|\\[(?!keep|disputed|until|\\d{4}-)[^[\\]]+\\])', 'gi');
// The day as YYYY-MM-DD, or null where no calendar has it.
const calendarDay = (text, day = text.replace(/\//g, '-')) =>
  (String(new Date(day).toJSON()).startsWith(day) ? day : null);
const daysFrom = (first, last) => (Date.parse(last) - Date.parse(first)) / 86400000;
// Code, links and comments become filler of the same length, so that nothing in them is read.
const fill = (found) => '\u0001'.repeat(found.length);
const mask = (text) => text.replace(CODE, fill).replace(LINK, fill);
// P-13, P-14 and P-17: what is in front of a text: marks with their places, and a date { date, from, to, isMark }.
function readFront(seen) {
  const front = { disputed: false, until: null, spans: [], date: null };
  for (let at = /^\[[ xX]\] /.test(seen) ? 4 : 0; ;) {
    at += seen.slice(at).search(/[^ ]|$/);
    const [mark, disputed, until] = MARK.exec(seen.slice(at)) || [];
    if (until && !calendarDay(until)) return front;
    if (until) front.until = [front.until || until, until].sort()[0];
    front.disputed ||= Boolean(disputed);
    if (mark) front.spans.push({ from: at, to: at + mark.length });
    const date = mark || front.date ? null : dateAt(seen, at);
    front.date ||= date;
    if (!mark && !(date && date.isMark)) return front;
    at = mark ? at + mark.length : date.to;
  }
}
function dateAt(seen, position) {
  const at = position + new RegExp(`^${ORNAMENT}`, 'u').exec(seen.slice(position))[0].length;
  const [all, bracket, inBrackets, parenthesis, inside, bare] = FRONT_DATE.exec(seen.slice(at)) || [];
  const [day, after] = [inBrackets || inside || bare, seen.slice(at + 10)];
  const isSetOff = bracket || parenthesis || (/^[*_]/.test(after) && seen[at - 1] === after[0]) || SETS_OFF.test(after);
  if (!all || !isSetOff || !calendarDay(day)) return null;
  const [from, to] = bracket ? [at, at + all.length] : parenthesis ? [at + 1, at + all.length - 1] : [at, at + 10];
  return { date: calendarDay(day), isMark: Boolean(bracket), from, to };
}
function ownDate(text, seen = mask(text)) { // P-13 to P-15: the own date of a first paragraph, or null
  const front = readFront(seen).date;
  if (front && RANGE.test(seen.slice(front.to))) return null;
  const marked = [...seen.matchAll(new RegExp(`\\[(${DAY})\\]`, 'g'))].filter(([, day]) => calendarDay(day))
    .map(({ 1: date, index }) => ({ date, isMark: true, from: index, to: index + 12 }));
  const [newest] = [front, ...marked].filter((one) => one && one.isMark)
    .sort((a, b) => (a.date === b.date ? 0 : a.date > b.date ? -1 : 1));
  const [, lead = '', inside = ''] = LEAD_IN.exec(seen) || [];
  const dateIn = (found, before) => found && calendarDay(found[0]) &&
    { date: found[0], from: before + found.index, to: before + found.index + 10 };
  return newest || front || dateIn(ALONE.exec(inside), lead.length) || dateIn(CLOSING.exec(seen), 0) || null;
}
function bareText(text, date = ownDate(text)) { // P-18: a first paragraph without its date and the marks in front
  const plain = date ? withoutDate(text, date) : text;
  const shift = (at) => (date && at > date.from ? text.length - plain.length : 0);
  return readFront(mask(text)).spans.reverse().reduce((rest, { from, to }) =>
    rest.slice(0, from - shift(from)) + rest.slice(to - shift(from)).trimStart(), plain);
}
function withoutDate(text, { from, to, isMark }) {
  const [before, after] = [text.slice(0, from), text.slice(to)];
  const isInside = before.endsWith('(') && after[0] === ')';
  const lessOf = (rest) => rest.replace(/^[ :\-\u2013\u2014]+/, '');
  const stillLess = (rest) => rest.replace(/^[ :\-\u2013\u2014/,.]+/, '');
  if (before === '(' && isInside) return stillLess(after.slice(1));
  if (/^[*_]+$/.test(before) && after.startsWith(before)) return lessOf(after.slice(before.length));
  if (/^[*_( ]*$/.test(before)) return before + lessOf(after);
  if (isInside) return before.slice(0, -1).trimEnd() + after.slice(1);
  const isOrnament = new RegExp(`^(?:\\[[ xX]\\] )?${ORNAMENT}$`, 'u').test(before);
  return isOrnament && !isMark ? `${before.trimEnd()} ${stillLess(after)}` : before.replace(/[ ,;]+$/, '') + after;
}
function headingDate(text, seen = mask(text).replace(/\*/g, ' ')) { // P-16: at its begin, end or last parenthesis
  const [open, close] = [seen.lastIndexOf('('), seen.lastIndexOf(')')];
  const isAtEnd = (index) => new RegExp(`^${TIME}[\\s\\])_.]*$`).test(seen.slice(index + 10));
  const days = [...seen.matchAll(STANDING)].filter(({ 0: day, index }) => calendarDay(day) &&
    ((open < index && index < close) || /^[\s[(_]*$/.test(seen.slice(0, index)) || isAtEnd(index)));
  const saysWhen = /(?<![\p{L}\p{N}])(?:through|until|pre|per|archived)(?![\p{L}\p{N}])/iu.test(seen);
  return saysWhen ? null : days.map(([day]) => day).sort().pop() || null;
}
// Lines as units in file order. A unit has `kind` (heading, label, entry, index or other), `start`, `end`, `section`,
// the heading above it, and `chain`, that heading and those above it.
function readLines(lines, from = 0) {
  let [units, chain] = [[], []];
  const blocks = joinLabels(parseBlocks(lines, from).flatMap(datedPieces), lines);
  blocks.forEach((block, i) => {
    for (const unit of unitsOf(block, blocks.slice(i + 1), lastOf(units) || {}, lines)) {
      if (unit.kind === 'heading') chain = [unit, ...chain.filter(({ level }) => level < unit.level)];
      units.push(Object.assign(unit, { section: chain[0] || null, chain }));
    }
  });
  const headings = units.filter(({ kind }) => kind === 'heading');
  const tops = headings.filter(({ level }) => level === 1);
  if (tops.length === 1 && tops[0] === headings[0]) Object.assign(tops[0], { date: null, dateLine: null });
  const entries = units.filter(({ block }) => block).map((unit) => describe(lines, unit));
  return { lines, from, blocks, units, entries, first: headings[0] || null };
}
const readDocument = (text) => readLines(splitLines(text), frontMatterLength(splitLines(text)));
// The units that a block adds, given the blocks after it and the unit before it.
function unitsOf(block, after, last, lines) {
  const { type, start, end, level, text = lines.slice(start, end), kind } = block;
  if (type === 'heading') return [{ kind: type, start, end, level, text, ...headingDates(text, lines.slice(end)) }];
  const over = last.kind === 'label' ? last : last.label || null;
  if (type === 'list') return listUnits(block, over, after, lines);
  const isHtml = type === 'html';
  const closes = isHtml && !last.isProse && !/<[^/]/.test(text) && seenText(text) === '';
  const isOther = closes || ['rule', 'definition'].includes(type) || HIDDEN_KINDS.includes(kind);
  if (isOther) return [{ kind: 'other', start, end, label: isPassedOver(lines)(block) ? over : null }];
  const found = (isHtml || type === 'paragraph') && isOverList(after, lines) ? labelOf(text) : null;
  const label = isHtml && (/</.test(found) || !isWhole({ text })) ? null : found;
  if (!label) return proseUnits(block, last);
  const prose = isWhole({ ...block, text }) ? [] : proseUnits(block.outer || block, {});
  return [...prose, { date: null, ...ownDate(label), kind: 'label', start, end, prose: prose[0] || null, text: label }];
}
const DATE_LINE = /^[\s*_]*date[\s*_]*:[\s*_[]*(\d{4}-\d\d-\d\d)(?![\w/-])/i;
const headingDates = (text, after, [, day] = DATE_LINE.exec(after.find(isText)) || []) => // P-16
  (headingDate(text) ? { date: headingDate(text) } : { date: null, dateLine: day && calendarDay(day) });
const firstText = ({ children: [first] }) => (first && first.type === 'paragraph' ? first.text.join('\n') : '');
function listUnits(list, label, after, lines) { // P-8
  const { first, start, end, children } = list;
  const files = children.map((item) => indexedFile(firstText(item)));
  const isShort = end - start <= 20 && bytesOf(`${lines.slice(start, end).join('\n')}\n`) <= 2000;
  const next = after.find(({ type, kind }) => ['rule', 'heading', 'list', 'definition'].includes(type) && kind !== 2);
  const goesOn = next && next.first === first + children.length && next.children[0].marker === children[0].marker;
  const isOwn = (text) => ownDate(text) || readFront(mask(text)).until || indexedFile(text);
  if (first !== null && first < 2 && isShort && !goesOn && !children.map(firstText).some(isOwn)) {
    return [{ kind: 'entry', start, end, block: list, label }];
  }
  return children.map((block, i) => ({ kind: files[i] ? 'index' : 'entry', start: block.start, end: block.end, block,
    label, file: files[i] }));
}
function indexedFile(text) { // P-10: the file of an index line, or null.
  const link = /^[*_]*\[(?:[^[\]]|\[[^[\]]*\])*\]\( *(?:<([^<>]*)>|([^\s()]*))/.exec(text);
  const target = link ? (link[1] || link[2] || '').replace(/^\.\//, '').replace(/#.*$/, '') : '';
  return /^[^/\\]+\.md$/i.test(target) ? decodeURIComponent(target) : null;
}
const LABEL_END = /(?:[\s:\uff1a\u2013\u2014\u2192]| -|->|=>)+$/;
const SENTENCE_END = /(?<=[^][!?]|(?<!(?:^| )[(*_]*(?:[^ ]*\.[^ ]*|[b-df-hj-np-tv-xz]+))(?<=[^])\.) (?!\p{Ll}|$)/u;
const OPENER = new RegExp(`(?:[:?：？–—→…]| -|->|=>|[^\\s.]\\.\\.\\.) *${ORNAMENT} *$`, 'u');
const BOLD =
  new RegExp(`^ *${EMOJI}*(\\*\\*|__)((?:(?!\\1)[^]|[*_](?=\\1 *${EMOJI}*$))+(?<![.!][*_ ]*))\\1 *${EMOJI}*$`, 'u');
const isPassedOver = (lines) => ({ type, start, end }) => type === 'definition' ||
  (type === 'html' && /^\s*<!--(?!\s*-->)(?:(?!-->)[^])*-->\s*$/.test(lines.slice(start, end).join('\n')));
const isOverList = (after, lines) => (after.find((one) => !isPassedOver(lines)(one)) || {}).type === 'list';
const FRAMES = /<\/?(?:center|details|div|em|font|i|mark|p|section|small|span|u)(?:\s[^<>]*)?>/gi;
const boldOf = (_, tag, text, at, all, less = text.replace(/^[\s*_]+|[\s*_.!]+$/g, '')) =>
  `**${less}${/[:?\uff1a\uff1f\u2026]$/.test(less) ? '' : ':'}**`;
const withoutTags = (text) => (text.includes('`') ? text : text.replace(FRAMES, '').replace(/<\/?(?:b|strong)>/gi, '**')
  .replace(/<(h[1-6]|summary)(?:\s[^<>]*)?>([^<>]*)<\/\1>/gi, boldOf).trim());
const seenText = (lines) => withoutTags(hide(lines.join('\n'))).replace(/(?:\s|\\|<br ?\/?>)+$/, '');
const isWhole = ({ outer, text }) => (outer ? isWhole(outer) : labelOf(text) === seenText(text).replace(/\s+/g, ' '));
const joinLabels = (blocks, lines) => blocks.reduceRight((after, outer) => { // a label over another one: both are one
  const [inner, ...rest] = after;
  const isLabel = ({ type, text }) => type === 'paragraph' && labelOf(text) !== null;
  const isOver = inner && isLabel(outer) && isLabel(inner) && isWhole(inner) && isOverList(rest, lines);
  const text = isOver && [...outer.text, '', ...inner.text];
  return isOver ? [{ ...outer, end: inner.end, text, outer, whole: null }, ...rest] : [outer, ...after];
}, []);
const plainOf = (text, less = text.replace(/!?\[([^[\]]+)\]\([^()\s]*\)/g, '$1').replace(LABEL_END, '')
  .replace(/^(\*\*|__|[*_])\s*((?:(?!\1)[^])+?)\s*\1$/, '$2')) => (less === text ? text : plainOf(less));
const WHERE = 'applies(?: for| in| to)?|audience|branch|condition|customer|env(?:ironment)?|except(?: for)?|for|if|' +
  'in|only(?: for| if| in| on| when| with)?|os|owner|platform|region|scope|scoped to|since|source|stage|team|' +
  'tenant|unless|until|valid(?: for| from| in| until)?|version|when|where|with|without';
const DATA = /^(?= *[^\s:])(?:[^\s:]+ *){1,3}:[\s*_]*[^\s*_]/;
const isCondition = (line) => DATA.test(line) && new RegExp(`^[*_ ]*(?:${WHERE})s?[*_ ]*:`, 'i').test(line);
function labelOf(lines) { // the label at the end of a paragraph over a list, or null
  const shown = seenText(lines).split('\n').map((line) => line.trim());
  const gap = shown.lastIndexOf('');
  if (gap > 0) return [shown.slice(0, gap), shown.slice(gap + 1)].map((part) => `${plainOf(labelOf(part))}:`).join(' ');
  const data = shown.findIndex(isCondition);
  if (data >= 0 && shown.slice(data).every((line) => DATA.test(line))) return shown.slice(data).join(' ');
  const ends = shown.findLastIndex((line, i) => i + 1 < shown.length && (/[\\.!?:\uff1a]$/.test(line) ||
    /^\*\*[^:]*:/.test(line) || shown[i + 1].startsWith('**')));
  const label = shown.slice(ends + 1).join(' ').replace(/\s+/g, ' ').split(SENTENCE_END).pop();
  return OPENER.test(label) || BOLD.test(label) || isCondition(label) ? label : null;
}
// P-9: the entry that a block of prose begins; none where it goes on with the one before.
function proseUnits(block, last, text = (block.text || []).join('\n')) {
  const [own, isMore] = [text && ownDate(text), !text || /^\*\*|^\p{L}+:(?:\s|$)|[:\uff1a]$/u.test(text)];
  const isDated = Boolean(own) && /[^*_ ]/.test(bareText(text));
  if (!last.isProse || own || (last.isDated && !isMore)) {
    return [{ kind: 'entry', start: block.start, end: block.end, block, isProse: true, isDated, label: null }];
  }
  last.end = block.end;
  return [];
}
function datedPieces(block) { // A paragraph in pieces, each of which begins with a line `YYYY-MM-DD: …`
  if (block.type !== 'paragraph') return [{ ...block, whole: block }];
  const begins = (line, i) => !i || (/^\d{4}-\d\d-\d\d:/.test(line) && calendarDay(line.slice(0, 10)));
  const starts = block.text.flatMap((line, i) => (begins(line, i) ? [i] : []));
  return starts.map((from, i) => ({ ...block, whole: block, start: block.start + from,
    end: block.start + (starts[i + 1] || block.text.length), text: block.text.slice(from, starts[i + 1]) }));
}
function describe(lines, unit) { // Reads the date, the marks, and `bare`, which the id is made from
  const block = unit.block.type === 'list' ? unit.block.children[0] : unit.block;
  const paragraph = block.type === 'item' ? block.children[0] : block;
  const hasText = paragraph && paragraph.type === 'paragraph';
  const head = hasText ? paragraph.text.join('\n') : '';
  const rest = lines.slice(hasText ? Math.min(paragraph.end, unit.end) : unit.start, unit.end);
  if (!hasText && rest.length && !unit.isProse) rest[0] = rest[0].replace(/^\s*(?:[-+*]|\d+[.)])[ \t]*/, '');
  const [own, marks] = [ownDate(head), { keep: /\[keep\]/i.test(mask(head)), ...readFront(mask(head)) }];
  const given = own ? { date: own.date, dateSource: 'own mark' } : givenDate(unit);
  return Object.assign(unit, unit.kind === 'index' ? { date: null } : given,
    { marks, bare: [bareText(head), ...rest].join('\n') });
}
const givenDate = ({ label, chain }, given = chain.find((heading) => heading.dateLine || heading.date) || {}) => // P-16
  [['label', label && label.date], ['heading', given.date], ['label', given.dateLine, given.end], [null, null]]
    .map(([dateSource, date, dateFrom]) => ({ date, dateSource, dateFrom })).find((one) => one.date || !one.dateSource);
function idOf(target, text) { // P-18
  const [, tier, owner] = /^(\w+):?(.*)$/s.exec(target);
  const said = text.normalize('NFC').replace(/[\p{White_Space}\x1c-\x1f]+/gu, ' ').replace(/^ | $/g, '');
  return blake2b(`${tier}\n${foldName(owner)}\n${said}`).slice(0, 12);
}
function parse(text, target) {
  if (text === null) throw new Refused('it is not UTF-8');
  const { lines, units } = readDocument(text);
  const found = units.filter(({ kind }) => kind === 'entry').map((unit) =>
    ({ ...unit, id: idOf(target, unit.bare), key: foldName(plainOf((unit.label || { text: '' }).text)) }));
  const tell = ({ id, key, start, end, label, section, date, dateSource, marks: { keep, disputed, until } }) => {
    const isUpTo = (other) => (other.key === key ? other.start <= start : other.key < key); // P-19
    const count = found.filter((other) => other.id === id && isUpTo(other)).length;
    const marks = [keep && 'keep', disputed && 'disputed', until && `until ${until}`].filter(Boolean);
    return { id: count > 1 ? `${id}-${count}` : id, text: lines.slice(start, end).join('\n'), line: start + 1,
      last_line: end, label: label ? label.text : '', section: section ? section.text : '', date,
      date_source: dateSource, marks };
  };
  const index = units.filter(({ kind }) => kind === 'index').map(({ start, file }) => ({ line: start + 1, file }));
  return { entries: found.map(tell), index_lines: index };
}
// P-25: the lines of a document that a reader of the rendered page sees; null for those that go whole.
function shownLines({ lines, from, blocks }) {
  const shown = lines.slice().fill(null, 0, from);
  const visit = ({ type, start, end, children }) => {
    const hasText = ['paragraph', 'table', 'heading', 'html'].includes(type);
    const seen = hasText ? hide(lines.slice(start, end).join('\n'), type === 'html').split('\n') : [];
    seen.forEach((line, i) => { if (line !== lines[start + i]) shown[start + i] = isBlank(line) ? null : line; });
    if (type === 'definition') shown.fill(null, start, end);
    children.forEach(visit);
  };
  blocks.forEach(visit);
  return shown;
}
function hide(text, isHtml) { // Takes out comments and their like, save for the line ends in them
  const hidden = '<!--(?!\\s*-->)[^]*?-->|<\\?[^]*?\\?>|<![A-Za-z][^>]*>';
  const pattern = isHtml ? `${hidden}|<!--(?!\\s*-->)[^]*$|<\\?[^]*$` : `${CODE_SPAN}|\\\\[^]|${hidden}`;
  return text.replace(new RegExp(pattern, 'g'), (found) => (found[0] === '<' ? found.replace(/[^\n]/g, '') : found));
}
const injected = (text) => shownLines(readDocument(text)).filter((line) => line !== null);
// P-26. Where a character that is not seen is needed: what is before it, the character, what is after it.
const UNSEEN = new RegExp('(?![\\u0600-\\u0605\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u{110bd}\\u{110cd}\\t])' +
  '[\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Zl}\\p{Zp}\\p{DI}\\p{Noncharacter_Code_Point}\\u2800\\u{1d159}]', 'gu');
const CURSIVE = '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Mongolian}\\p{Script=Nko}\\p{Script=Mandaic}]';
const VIRAMA = '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca\\u1039\\u17d2]';
const NEEDED = [
  [/\p{Extended_Pictographic}$/u, /[\ufe0e\ufe0f]/, /^/], [/[0-9#*]$/, /[\ufe0e\ufe0f]/, /^\u20e3/],
  [/[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u, /\u200d/, /^\p{Extended_Pictographic}/u],
  [new RegExp(`${VIRAMA}$`), /[\u200c\u200d]/, /^/], [/\p{L}$/u, /[\u200c\u200d]/, new RegExp(`^${VIRAMA}`)],
  [new RegExp(`${CURSIVE}$`, 'u'), /[\u200c\u200d]/, new RegExp(`^${CURSIVE}`, 'u')],
  [/\p{Script=Han}$/u, /[\ufe00-\ufe02\u{e0100}-\u{e011f}]/u, /^/],
  [/\p{Script=Mongolian}$/u, /[\u180b-\u180d\u180f]/, /^/], [/[\p{L}\p{N}]$/u, /\u200c/, new RegExp(`^${CURSIVE}`, 'u')]];
const FLAG = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/gu;
const [ALIKE, LATIN] = ['аеорсухѕіһԁοιυνα‐‑‒–—−', 'aeopcyxsihdoiuva------'];
const NAMES = 'agent-memory|assistant|bos|end_of_turn|eos|function_calls|function_results|hook_context|human|invoke|' +
  'memory|s|session-checklist|start_of_turn|system|system-reminder|tool_call|tool_result|tool_use|user';
const MARKER = new RegExp(`^[\\s/\\\\⁄∕]*(?:\\||<sys|antml:|tool\u2581|(?:${NAMES})(?![\\w\\p{L}\\p{N}-]))`, 'iu');
const ANGLE_OR_INST = /[<\uff1c\ufe64\u2039\u2329\u27e8\u3008\u02c2\u1438]|\[(?=\/?INST\])/g;
function escapeText(text) { // P-26 and P-27
  const inFlag = (at) => [...text.matchAll(FLAG)].some(({ 0: flag, index }) => index <= at && at < index + flag.length);
  const isNeeded = (char, at) => char === '\n' || inFlag(at) || NEEDED.some(([before, self, after]) =>
    self.test(char) && before.test(text.slice(0, at)) && after.test(text.slice(at + char.length)));
  const shown = text.replace(UNSEEN, (char, at) => (isNeeded(char, at) ? char : spell(char)));
  const letterOf = (char) => LATIN[ALIKE.indexOf(char.toLowerCase())] || char; // all of one length, to keep places
  const plain = shown.replace(/[^\x00-\x7f]/g, (char, at, all, form = char.normalize('NFKC')) =>
    (form.length > 1 ? char : letterOf(form)));
  const breakMarker = (char, at) => (char === '[' ? '&#91;' : MARKER.test(plain.slice(at + 1)) ? '&lt;' : char);
  const broken = shown.replace(ANGLE_OR_INST, breakMarker);
  return broken === text ? text : escapeText(broken);
}
const spell = (char, code = char.codePointAt(0), width = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8) =>
  `\\${{ 2: 'x', 4: 'u', 8: 'U' }[width]}${code.toString(16).padStart(width, '0')}`;
const NONE = /^(?:empty|n\/a|no(?: entries|ne(?: yet)?|thing(?: here)? yet)|tbd|to be filled in|todo|[\u2013\u2014])$/;
const OPEN = new RegExp('^no\\s+(?:decisions|entries|findings|knowledge|learnings|lessons|memor(?:y|ies)|notes|' +
  'patterns|\\S+(?:\\s+\\S+){0,2}\\s+(?:captured|noted|recorded)) (?:yet|so far)$');
const HINT = /^[ \t.]*(?:[-*+] [ \t]*)?[*_([]+none yet *[-\u2014\u2013:,;][^]*[*_)\]][ \t.]*$/i;
const isPlaceholder = (line, text = line.replace(/^[-\s+*_()[\].\u2026]+|[-\s+*_()[\].\u2026]+$/g, '')) =>
  [NONE.test(text.toLowerCase()) ? 30 : OPEN.test(text.toLowerCase()) || HINT.test(line) ? 160 : -1] >= charsOf(line);
const saysNothing = (line) => isBlank(line) || line[0] === '#' || line.trim() === '<!-- -->' || isPlaceholder(line);
const holdsPlace = (lines) => ({ kind, label, start, end }) => // whether a unit is a placeholder (P-24)
  kind === 'entry' && !label && end === start + 1 && isPlaceholder(lines[start]);
function withoutPlaceholders(lines) { // nor the blank lines that they had around them
  const isAlone = ({ start, end }) => [start - 1, end].every((at) => isBlank(lines[at] || ''));
  const gone = new Set(readLines(lines).units.filter(holdsPlace(lines)).filter(isAlone).map(({ start }) => start));
  const kept = lines.filter((line, i) => !gone.has(i) && !(isBlank(line) && gone.has(i - 1) &&
    isBlank(lines.slice(0, i - 1).findLast((_, before) => !gone.has(before)) || '')));
  while (gone.size && kept.length && isBlank(lastOf(kept))) kept.pop();
  return kept;
}
// A document as recall needs it, or null where it says nothing. The `segments` of an entry are the blocks that go with
// it: each with its `lines`, `block`, `place` among the blocks, and the `label` that governs it.
function prepare(text, today, seen = injected(text)) {
  if (seen.every(saysNothing)) return null;
  const [doc, segments] = [readLines(withoutPlaceholders(seen)), new Map()];
  const [shown, blocks] = [doc.lines.map(escapeText), itemsOf(doc.blocks)];
  const governing = doc.units.filter(({ kind, prose }) => kind === 'label' && prose).map(({ prose }) => prose);
  const cut = ({ start, end }, label) => blocks.flatMap((block, place) => {
    const [from, to] = [Math.max(start, block.start), Math.min(end, block.end)];
    const lines = shown.slice(from, to).map(cutLine);
    const segment = segments.get(from) || { start: from, end: to, place, block, lines };
    if (from < to) segments.set(from, Object.assign(segment, label && { label }));
    return from < to ? [segment] : [];
  });
  for (const unit of doc.entries) {
    unit.size = bytesOf(shown.slice(unit.start, unit.end).map((line) => `${cutLine(line)}\n`).join(''));
    unit.isExpired = unit.marks.until !== null && unit.marks.until < today;
    const dating = doc.entries.find(({ start, end }) => start >= unit.dateFrom && start !== unit.start &&
      end - start <= 5 && doc.lines.slice(unit.dateFrom, start).every(isBlank));
    if (dating) governing.push(dating);
    const [above, own] = [[...unit.chain, dating], [unit.label, unit]].map((some) => some.filter(Boolean));
    unit.segments = [...above.flatMap((one) => cut(one)), ...own.flatMap((one) => cut(one, unit.label))];
  }
  const real = doc.entries.filter((unit) => !holdsPlace(doc.lines)(unit));
  return { shown, real, governing, title: doc.first ? cut(doc.first) : [], glue: new Map() };
}
const cutLine = (line) => (bytesOf(line) > MAX_LINE_BYTES // P-30, where an ellipsis has three bytes
  ? `${Buffer.from(line, 'utf8').toString('utf8', 0, MAX_LINE_BYTES - 3).replace(/\ufffd$/, '')}\u2026` : line);
const deepest = (block) => (block && block.children.length ? deepest(lastOf(block.children)) : block);
const itemsOf = (blocks) => blocks.flatMap((block) => (block.type === 'list' ? block.children : [block]));
function outline(lines) { // What blocks some lines make, to tell whether they stay what they are
  const tell = ({ type, marker, level, start, end, children }) => [type, marker, level, children.length
    ? children.map(tell) : lines.slice(start, end).map((line) => (type === 'fence' ? line : line.trim()))];
  return itemsOf(parseBlocks(lines, 0)).map((block) => JSON.stringify(tell(block)));
}
const glueOf = ({ glue }, above, below, key = [above, below].map(({ start, end }) => `${start} ${end}`).join()) =>
  (glue.has(key) ? glue : glue.set(key, findGlue(above, below))).get(key);
function findGlue(above, below) {
  const [first, second] = [above, below].map(({ block }) => block.whole || block);
  if (above.end === below.start || first === second) return [];
  const stay = (gap) => outline([...above.lines, ...gap, ...below.lines]).join() ===
    [...outline(above.lines), ...outline(below.lines)].join();
  const wentOut = below.place > above.place + 1 || above.end < first.end || below.start > second.start;
  const isLabel = first.type === 'paragraph' && labelOf(above.lines.map((line) => line.trim())) !== null;
  const misleads = second.type === 'item' && (isLabel && !above.label ? true : above.label !== below.label);
  if (wentOut && misleads) return ['', '<!-- -->', ''];
  return stay([]) ? [] : wentOut && !stay(['']) ? ['', '<!-- -->', ''] : [''];
}
const render = (doc, segments, inOrder = [...new Set(segments)].sort((a, b) => a.start - b.start)) =>
  inOrder.flatMap((one, i) => [...(i ? glueOf(doc, inOrder[i - 1], one) : []), ...one.lines]);
function leavingOrder({ real, governing }) { // P-31: the entries in the order in which they leave
  const units = real.filter((unit) => !unit.isExpired && !governing.includes(unit));
  const days = [...new Set(units.map(({ date }) => date).filter(Boolean))].sort().reverse();
  const isNear = (most) => (day, i) => i + 1 < days.length && daysFrom(days[i + 1], day) <= most;
  const newest = days.find(isNear(365)) || days.find(isNear(3650)) || lastOf(days);
  const last = units.findLast(({ date }) => date && date === newest);
  const own = units.filter(({ kind, dateSource }) => kind === 'entry' && dateSource === 'own mark');
  const isOdd = (unit) => own.includes(unit) && [-1, 1].map((by) => own[own.indexOf(unit) + by])
    .every((beside) => beside && daysFrom(unit.date, beside.date) > 180);
  const left = new Map(units.map(({ section }) => [section, { count: 0, bytes: 0, at: section ? section.start : -1 }]));
  const [order, leftOf] = [new Set(), ({ section }) => left.get(section)];
  const add = (unit, by) => { leftOf(unit).count += by; leftOf(unit).bytes += by * unit.size; };
  units.forEach((unit) => add(unit, 1));
  const take = (group) => {
    const mayGo = (unit) => unit !== last && !order.has(unit) && leftOf(unit).count > 1;
    for (let some = group.filter(mayGo); some.length; some = some.filter(mayGo)) {
      const isBefore = (a, b) => leftOf(a).bytes - leftOf(b).bytes || leftOf(b).at - leftOf(a).at;
      const next = some.reduce((best, unit) => (isBefore(unit, best) > 0 ? unit : best));
      order.add(next);
      add(next, -1);
    }
  };
  const groups = days.slice().reverse().map((day) => units.filter(({ date }) => date === day));
  groups.filter(([{ date }]) => daysFrom(date, newest) > 30).forEach((group) => take(group.filter((x) => !isOdd(x))));
  const isOpening = (unit) => unit.isProse && unit.end - unit.start <= 100 && unit.size <= 12800 &&
    !units.some((other) => other.section === unit.section && !other.isProse && other.start < unit.start);
  const undated = units.filter(({ date }) => !date);
  [undated.filter((unit) => !isOpening(unit)).concat(undated.filter(isOpening)), ...groups].forEach(take);
  const key = (unit) => [unit === last ? 1 : 0, unit.date || '', -unit.size, unit.start];
  const byKey = (a, b) => key(a).map((x, i) => (x < key(b)[i] ? -1 : Number(x > key(b)[i]))).find(Boolean) || 0;
  return [...order, ...units.filter((unit) => !order.has(unit)).sort(byKey)];
}
function* ofEachSection(order) { // P-31: which entries may be one of each section
  const [lines, bytes, isNotLast] = [({ start, end }) => end - start, ({ size }) => size, (unit) => unit !== order[0]];
  const by = (...sizes) => (a, b) => sizes.map((size) => size(a) - size(b)).find(Boolean) || a.start - b.start;
  const ways = [[isNotLast, lines, bytes], [isNotLast, bytes, lines], [lines, bytes], [bytes, lines]];
  for (const way of [[(unit) => order.indexOf(unit)], ...ways]) {
    yield [...new Map(order.slice().sort(by(...way)).reverse().map((unit) => [unit.section, unit])).values()];
  }
}
function fit(doc, holds, command) { // P-30 to P-32: the lines of a document that fit, as `holds` tells
  const { real, title, shown, governing } = doc;
  const widest = lastLine(real, command, { isOlder: real.every(({ date }) => date) });
  const isWhole = real.every(({ isExpired }) => !isExpired);
  const segmentsOf = (units) => [...title, ...[...units].flatMap((unit) => unit.segments)];
  const whole = isWhole && [shown, shown.map(cutLine), render(doc, segmentsOf(real))].find(holds);
  if (whole) return whole;
  if (!holds([...render(doc, title), widest])) return [lastLine(real, command, {})];
  const [order, isRoomFor] = [leavingOrder(doc).reverse(), (segments) => holds([...render(doc, segments), widest])];
  const kept = new Set([...ofEachSection(order)].find((units) => isRoomFor(segmentsOf(units))) || []);
  for (const unit of order) if (isRoomFor(segmentsOf([...kept, unit]))) kept.add(unit);
  const segments = segmentsOf(kept);
  for (const unit of governing) if (segments.some(({ start }) => start === unit.start)) kept.add(unit);
  const dates = [...kept].map(({ date }) => date).filter(Boolean).sort();
  const told = (gone, cut) => (gone.length || cut ? [lastLine(gone, command, { cut,
    isOlder: dates.length > 0 && gone.every(({ date }) => date && date < dates[0]) })] : []);
  const [out, [first]] = [real.filter((unit) => !kept.has(unit)), order];
  if (first && !isRoomFor(segmentsOf([first]))) {
    const lines = shown.slice(first.start, first.end).map(cutLine);
    for (let after = lines.length - 1; after > 0; after--) { // its first lines, as many as fit
      const [end, closing] = [first.start + after, closeFence(lines.slice(0, after)).slice(after)];
      const part = first.segments.filter(({ start }) => start < end).map((one) => (one.end <= end ? one
        : { ...one, end, lines: [...one.lines.slice(0, end - one.start), ...closing] }));
      const text = [...render(doc, [...segments, ...part]),
        ...told(out.filter((unit) => unit !== first), { after, of: lines.length })];
      if (holds(text)) return text;
    }
  }
  return [...render(doc, segments), ...told(out)];
}
const closeFence = (lines, { open, start } = deepest(lastOf(parseBlocks(lines, 0))) || {}) =>
  (open ? [...lines, ' '.repeat(lines[start].indexOf(open)) + open] : lines);
function lastLine(out, command, { cut, isOlder }) { // P-32: the line that tells what is left out
  const [dates, ended] = [out.map(({ date }) => date).filter(Boolean).sort(), out.filter((x) => x.isExpired).length];
  const some = (number) => (number === out.length ? '' : `${number} of them `);
  const span = dates[0] === lastOf(dates) ? dates[0] : `${dates[0]} to ${lastOf(dates)}`;
  const lines = out.reduce((sum, { start, end }) => sum + end - start, 0);
  const [noun, verb] = out.length === 1 ? ['entry', 'is'] : ['entries', 'are'];
  const about = (dates.length ? `, ${some(dates.length)}dated ${span}` : '') + (ended ? `, ${some(ended)}expired` : '');
  const entries = `${out.length} ${isOlder ? 'older ' : ''}${noun} on ${lines} line${lines === 1 ? '' : 's'}${about}`;
  const facts = [out.length && `${entries}${about ? ',' : ''} ${verb} not shown`,
    cut && `one entry is cut after ${cut.after} of ${cut.of} lines`].filter(Boolean);
  return `(${facts.join('; ')}; \`${command}\` shows ${out.length + (cut ? 1 : 0) === 1 ? 'it' : 'them'})`;
}
const TIERS = [['shared', '.scaffolding/agent-memory/shared/', 'KNOWLEDGE.md'],
  ['agent', '.scaffolding/agent-memory/agents/', '/MEMORY.md'],
  ['conversation', '.scaffolding/conversations/', '/agent-memory/context.md']];
function recall(files, args, today) {
  const parts = TIERS.map((tier) => readPart(files, args, tier, today)).filter(Boolean);
  return { text: fillParts(parts, args, today) ? makeBlock(parts) : '', not_read: parts.filter(({ doc }) => !doc)
    .map(({ target }) => target) };
}
// P-1, P-24 and P-33: the part of a tier, or null where it has nothing to give.
function readPart(files, args, [tier, folder, file], today) {
  if (tier !== 'shared' && !args[tier]) return null;
  const name = tier === 'shared' ? '' : spellingOf(files, folder, checkName(tier, args[tier]));
  const path = folder + name + file;
  const text = files[path] === undefined ? '' : readFile(files[path]);
  const doc = text === null ? null : prepare(text, today);
  const open = (lines) => `<memory tier="${tier}"${name && ` ${tier}="${name}"`} path="${path}" lines="${lines}">`;
  const part = { tier, target: name ? `${tier}:${name}` : tier, open, doc };
  if (text === null) return { ...part, total: 0, body: ['(not read: it is not UTF-8)'] };
  return doc && { ...part, total: splitLines(text).length, body: doc.shown };
}
function spellingOf(files, folder, name) { // P-3: the folder that exists gives the spelling
  const names = Object.keys(files).sort().flatMap((path) => path.split(folder).slice(1)).map((x) => x.split('/')[0]);
  return names.includes(name) ? name : names.find((other) => isSameName(other, name)) || name;
}
function makeBlock(parts) { // P-21 to P-23
  const tagged = parts.map(({ open, body, total }) =>
    [open(body.length < total ? `${body.length} of ${total}` : body.length), body.join('\n')]);
  const inner = tagged.map(([tag, body]) => `${tag}\n${body}\n</memory>\n`).join('');
  return inner && frame(blake2b(tagged.flat().join('')).slice(0, 16), inner);
}
const frame = (id, inner) => `<agent-memory id="${id}">\n${FRAMING}\n${inner}</agent-memory id="${id}">`;
// P-29: gives each part the lines that it has room for; false where there is none.
function fillParts(parts, args, today) {
  const [most, bytes] = [args.max_chars || Infinity, 4 * args.max_tokens || Infinity];
  const within = (text, [chars, size]) => charsOf(text) <= chars && bytesOf(text) <= size;
  const isBound = Math.min(most, bytes) < Infinity;
  const commandOf = ({ tier, doc }) => ['amp show', tier,
    ...(args.agent ? [`--as ${checkName('agent', args.agent)}`] : []),
    ...(args.conversation && (isBound || tier === 'conversation')
      ? [`--conversation ${checkName('conversation', args.conversation)}`] : []),
    ...(doc.real.some(({ marks }) => marks.until) ? [`--today ${today}`] : []),
    ...['max_lines', 'max_chars', 'max_tokens'].filter((key) => args[key])
      .map((key) => `--${key.replace('_', '-')} ${args[key]}`), '--left-out'].join(' ');
  const holdsWithin = (room = [Infinity, Infinity]) => (lines) => lines.length <= (args.max_lines || MAX_LINES) &&
    bytesOf(lines.join('\n')) <= MAX_BYTES && within(lines.join('\n'), room);
  const isFree = ({ doc, body }) => !doc || (holdsWithin()(body) && !doc.real.some((unit) => unit.isExpired));
  if (parts.every(isFree) && within(makeBlock(parts), [most, bytes])) return true;
  const fill = (part, room) => { if (part.doc) part.body = fit(part.doc, holdsWithin(room), commandOf(part)); };
  if (!isBound) return parts.forEach((part) => fill(part)) || true;
  const tagOf = ({ open, total }) => `${open(`${Math.max(total - 1, 0)} of ${total}`)}\n\n</memory>\n`;
  const around = frame('0'.repeat(16), parts.map(tagOf).join(''));
  let left = [most - charsOf(around), bytes - bytesOf(around)];
  for (const part of parts) {
    part.size = Math.min(bytesOf(part.body.join('\n')), MAX_BYTES);
    const note = part.doc ? bytesOf(lastLine(part.doc.real, commandOf(part), {})) : part.size;
    part.least = isFree(part) ? Math.min(part.size, note) : note;
  }
  const needOf = (some) => some.reduce((sum, { least }) => sum + least, 0);
  if (needOf(parts) > Math.min(...left)) return false;
  parts.slice().sort((a, b) => a.size - b.size).forEach((part, i, inOrder) => {
    const [waiting, kept] = [inOrder.length - i, needOf(inOrder.slice(i + 1))];
    fill(part, left.map((room) => Math.max(part.least, Math.min(Math.floor(room / waiting), room - kept))));
    const body = part.body.join('\n');
    left = [left[0] - charsOf(body), left[1] - bytesOf(body)];
  });
  return true;
}
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
const NAME = /^(?:\p{L}\p{M}*|[\p{Nd}_])(?:\p{L}\p{M}*|[\p{Nd}._-])*$/u;
const ONE_SCRIPT = [/\p{Script=Latin}/u, /\p{Script=Greek}/u, /\p{Script=Cyrillic}/u, /\p{Script=Arabic}/u,
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u];
function checkName(kind, given) { // P-2: a name as it is kept
  const [, plugin, agent] = (kind === 'agent' && /^(.{2,}):([^:]+)$/s.exec(given)) || [];
  const name = (agent || given).normalize('NFC');
  const letters = name.match(/\p{L}/gu) || [];
  if (plugin) plugin.split(':').forEach((part) => checkName(kind, part));
  const isOdd = !NAME.test(name) || /[.-]$|\p{Variation_Selector}/u.test(name) || name !== name.normalize('NFKC');
  const isMixed = ONE_SCRIPT.some((one) => letters.some((x) => one.test(x)) && !letters.every((x) => one.test(x)));
  const isLong = charsOf(name) > (kind === 'agent' ? 64 : 128) || bytesOf(name) > 255;
  if (isOdd || isMixed || isLong || RESERVED.test(name)) throw new Refused('it breaks the name rule');
  return name;
}
function readHeader(text) { // The values of a header, as text; those below a key are named `key.name`
  let [lines, values, parent] = [splitLines(text), {}, ''];
  for (const line of lines.slice(1, Math.max(1, frontMatterLength(lines) - 1))) {
    const [pair, indent, key, value = ''] = /^(\s*)([\w-]+):(?:\s+(.*))?$/.exec(line) || [];
    if (pair && !indent) parent = key;
    const plain = value.trim().replace(/^(["'])(.*)\1$/, '$2');
    if (pair) values[indent ? `${parent}.${key}` : key] = /^[[{]/.test(value) ? '' : plain;
  }
  return values;
}
// P-4: whether an agent may read a document; `inside` is the conversation that it is in. Whether it may write is P-5.
function mayRead({ as: actor, in: inside, target }) {
  const [, tier, owner] = /^(\w+):?(.*)$/.exec(target);
  const isOwn = tier === 'conversation' ? !inside || isSameName(inside, owner) : actor && isSameName(actor, owner);
  return !actor || tier === 'shared' || isOwn || (tier === 'agent' && isSameName(actor, 'architect'));
}
function readNote({ file, text }) { // P-49
  const { name = '', type, 'metadata.type': below, description = '' } = readHeader(text);
  const [, heading] = /^ {0,3}#{1,6} +(.+?)(?: +#+)? *$/m.exec(text) || [];
  const words = (name || file.replace(/\.md$/, '')).replace(/^(?:user|feedback|project|reference)[_-]/, '');
  const title = !name && heading ? heading : words.includes(' ') ? words : words.replace(/[-_]+/g, ' ').trim();
  return { type: below || type || null, description, title: title.replace(/^./u, (x) => x.toUpperCase()) };
}
const CALLS = {
  access: (args) => ({ allowed: mayRead(args) }), id: ({ target, text }) => ({ id: idOf(target, text) }),
  budget: ({ text }) => ({ lines: splitLines(text).length, bytes: bytesOf(text), tokens: (bytesOf(text) + 3) >> 2 }),
  check_name: ({ kind, name }) => ({ name: checkName(kind, name) }), escape: ({ text }) => ({ text: escapeText(text) }),
  injected: ({ text }) => ({ text: injected(text).map((line) => `${line}\n`).join('') }), note: readNote,
  parse: ({ text, path, target = 'shared' }, files) => parse(path ? readFile(files[path]) : text, target),
  recall: (args, files, clock) => recall(files, args, clock.slice(0, 10)),
};
function answer({ id, call, args, files, clock }) {
  try {
    return { id, result: CALLS[call](args, files, clock) };
  } catch (error) {
    if (!(error instanceof Refused)) console.error(error);
    return { id, refused: error.message };
  }
}
require('readline').createInterface({ input: process.stdin }).on('line', (line) =>
  line.trim() && console.log(JSON.stringify(answer(JSON.parse(line)))));
