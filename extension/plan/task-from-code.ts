// Makes a task from an editor: a selection, a problem that VS Code shows, or a TODO. Pure.

export interface CodePlace {
  /** Relative to the repository, with slashes. */
  readonly path: string;
  /** Starts at 1, inclusive. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly languageId: string;
  readonly text: string;
}

export interface Problem {
  readonly message: string;
  /** The source, such as `ts` or `eslint`, with its code if it has one. */
  readonly source: string;
  readonly line: number;
}

export interface ProposedTask {
  readonly title: string;
  readonly description: string;
}

const problemsMax = 20;
// The words that the feature searches for in users' files; they do not mark unfinished work here.
const marks = /\b(TODO|FIXME|XXX|HACK)\b\s*(\([^)]*\))?\s*:?\s*(.*)$/;

/** The text after a TODO or a similar word on this line, or null. */
export function findTodo(line: string): string | null {
  const words = marks.exec(line)?.[3];
  if (words === undefined) return null;
  return words.replace(/(\*\/|-->|#\}|%>)\s*$/, '').trim();
}

export function proposeTask(place: CodePlace, problems: readonly Problem[]): ProposedTask {
  const where = whereOf(place);
  const [first] = problems;
  const todo = place.text
    .split('\n')
    .map(findTodo)
    .find((words) => words !== null);
  const title =
    first !== undefined
      ? `Fix: ${firstLine(first.message)}`
      : todo !== undefined && todo !== null
        ? todo === ''
          ? `Do what the TODO in ${place.path} says`
          : todo
        : place.languageId === 'markdown'
          ? withoutMarks(firstLine(place.text))
          : firstLine(place.text);
  const told = problems
    .slice(0, problemsMax)
    .map(
      ({ message, source, line }) =>
        `- line ${line}${source === '' ? '' : ` (${source})`}: ${message}`,
    );
  const lines = [
    first === undefined ? `It is about ${where}.` : `The editor reports problems in ${where}:`,
    ...(told.length === 0 ? [] : ['', ...told]),
    ...(problems.length > problemsMax ? [`- and ${problems.length - problemsMax} more`] : []),
    ...(place.text.trim() === '' ? [] : ['', ...fenced(place)]),
  ];
  return { title: shortTitle(title), description: lines.join('\n') };
}

/** Code with its location, for a description. */
export function quotedCode(place: CodePlace): string {
  return [`${whereOf(place)}:`, '', ...fenced(place)].join('\n');
}

function whereOf({ path, firstLine: from, lastLine: to }: CodePlace): string {
  return from === to ? `\`${path}\`, line ${from}` : `\`${path}\`, lines ${from} to ${to}`;
}

const textCharsMax = 8_000;

function fenced({ text, languageId }: CodePlace): readonly string[] {
  return fencedText(text, languageId === 'plaintext' ? '' : languageId);
}

/** A fence that the text itself cannot close. */
export function fencedText(text: string, language = ''): readonly string[] {
  const isCut = text.length > textCharsMax;
  const shown = isCut ? text.slice(0, textCharsMax) : text;
  const ticks = [...shown.matchAll(/`{3,}/g)].map(([found]) => found.length);
  const fence = '`'.repeat(Math.max(3, ...ticks.map((count) => count + 1)));
  return [`${fence}${language}`, shown.replace(/\n$/, ''), fence, ...(isCut ? ['(cut)'] : [])];
}

/** The text of a line of Markdown, without the markup of a heading, list, quote or emphasis. */
export function withoutMarks(line: string): string {
  const start = /^(?:#{1,6}\s+|>\s*|[-*+]\s+(?:\[[ xX]\]\s+)?|\d+[.)]\s+)+/u;
  return line
    .trim()
    .replace(start, '')
    .replace(/\s+#+$/u, '')
    .replaceAll(/(\*\*|__|`)(?=\S)(.+?)\1/gu, '$2')
    .trim();
}

export function firstLine(text: string): string {
  const line = text.split('\n').find((each) => each.trim() !== '') ?? '';
  return line.trim().replace(/\s+/g, ' ');
}

const titleChars = 120;

export function shortTitle(title: string): string {
  const line = title.replace(/\s+/g, ' ').trim();
  return line.length <= titleChars ? line : `${line.slice(0, titleChars - 1)}…`;
}
