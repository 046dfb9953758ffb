// Extracts the lines of a command's output that explain its failure: failing tests with their first
// message, or the first errors. Based on real outputs of node:test, mocha, vitest, jest, pytest,
// unittest, go, cargo, tsc, eslint, ruff and make.

/**
 * `test` names a failing test or check. `error` describes an error. `detail` adds to it. `weak` is
 * used only if nothing better is found.
 */
type LineKind = 'test' | 'error' | 'detail' | 'weak';

interface KeptLine {
  readonly kind: LineKind;
  text: string;
}

const lineMax = 300;
const keptMax = 200;
const weakMax = 20;
const lastMax = 3;
/** Default number of lines that `lines` returns. */
const linesMax = 8;
/** Maximum number of details for one error. */
const detailsMax = 3;

const escapes = new RegExp(`${String.fromCodePoint(27)}\\[[0-9;?]*[A-Za-z]`, 'g');
const durations = /\s*[([]?\b\d+(?:\.\d+)?\s?m?s\b[)\]]?$/;

/**
 * Lines that are never returned: stack frames, totals, and sentences that only repeat that
 * something failed.
 */
const noise: readonly RegExp[] = [
  /^\s*at /,
  /^\s*File ".*", line \d+/,
  /^✖ (?:failing tests:|\d+ problems?)/,
  /^error: (?:could not compile|test failed, to rerun|aborting due to)/,
  /^\s*# Subtest/,
  /^# (?:fail|pass|tests)\b/,
  /^FAIL(?:\s+\S+\s+[\d.]+s)?$/,
  /^FAILED \(/,
  /^npm (?:ERR!|error) (?:code ELIFECYCLE|errno \d|A complete log|Lifecycle|path|workspace|location|command)/,
  /^-{3,} .* -{3,}$/,
  /RUST_BACKTRACE|^note: /,
  /\b0 (?:failed|errors?|failures?)\b/i,
  /^\s*E\s*$/,
  /^\s*error: [|>]-?$/,
];

const rules: readonly (readonly [LineKind, RegExp])[] = [
  ['test', /^\s*[✖×✕✗✘] \S/],
  ['test', /^\s*not ok \d+/],
  ['test', /^\s*--- FAIL: /],
  ['test', /^(?:FAILED|ERROR) \S+(?:::|\.py\b)/],
  ['test', /^(?:FAIL|ERROR): \S+ \(/],
  ['test', /^\s*FAIL\s+\S+(?: > |\s*\[)/],
  ['test', /^test .+ \.\.\. FAILED$/],
  ['test', /^\s*● .+ › /],
  ['test', /^\s*●? ?Test suite failed to run/],
  ['error', /: error TS\d+: /],
  ['error', /^error(?:\[[A-Z]\d+\])?: /],
  ['error', /^\S[^:]*:\d+(?::\d+)?: (?:fatal )?error: /],
  ['error', /^\S+\.go:\d+(?::\d+)?: /],
  ['error', /^\s+\S+_test\.go:\d+: /],
  ['error', /^\S+:\d+:\d+: [A-Z]{1,4}\d{3,4} /],
  ['error', /^[A-Z]{1,4}\d{3,4} (?:\[\*\] )?\S/],
  ['error', /^\s+\d+:\d+\s+error\s+/],
  ['error', /^panic: /],
  ['error', /^thread '.+' .*panicked at /],
  ['error', /^E {3,}\S/],
  ['error', /^\s*(?:Uncaught )?[A-Za-z_.]*(?:Error|Exception|Failure)\b(?: \[[^\]]+\])?: \S/],
  ['error', /^\s*error: \S/],
  ['error', /\b(?:undefined reference to|Segmentation fault|command not found|fatal: )/],
  ['error', /: (?:not found|No such file or directory|Permission denied)$/],
  ['error', /^npm (?:ERR!|error) \S/],
  ['detail', /^\s*(?:Expected|Received|expected|actual|left|right|got|want)\b.*: \S/],
  ['detail', /^\s*assertion .* failed/],
  ['detail', /^\s*\S+ (?:!==?|===?|!=) \S+\s*$/],
  ['weak', /^make(?:\[\d+\])?: \*\*\*/],
  [
    'weak',
    /\b(?:error|fail(?:ed|ure|s)?|fatal|cannot|can't|unable|denied|refused|missing|invalid)\b/i,
  ],
];

/** Maximum number of lines read from one output; its end may be read again. */
const linesReadMax = 50_000;

/** Reads an output in chunks, and stores only the lines that it may return. */
export class FailureLines {
  readonly #kept: KeptLine[] = [];
  readonly #weak: string[] = [];
  #last: string[] = [];
  #rest = '';
  /** A line that consists of a path. The errors below it belong to this file (eslint). */
  #file = '';
  /** Names that precede the message of a failing test (mocha). */
  #names: string[] | null = null;
  #isMocha = false;
  #read = 0;

  /**
   * Ignores lines beyond the limit, so that a program that floods its output does not cost minutes.
   */
  add(text: string): void {
    if (this.isFull) return;
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, 4 * lineMax);
    for (const line of lines.slice(0, linesReadMax - this.#read)) this.#line(line);
    this.#read += lines.length;
  }

  /** True if lines were omitted, or the next ones would be. */
  get isFull(): boolean {
    return this.#read >= linesReadMax;
  }

  /**
   * If lines were omitted, reads the end of the output too, which is often the most useful part.
   */
  addEnd(tail: string): void {
    this.#read = 0;
    this.#rest = '';
    this.add(`${tail}\n`);
  }

  lines(max = linesMax): readonly string[] {
    if (this.#rest !== '') this.add('\n');
    const chosen = this.#chosen();
    if (chosen.length === 0 && this.#weak.length === 0) return this.#last.slice(-max);
    if (chosen.length === 0) return this.#weak.slice(0, max);
    return chosen.slice(0, max);
  }

  #line(raw: string): void {
    const line = raw.replace(/\r$/, '').split('\r').at(-1)?.replace(escapes, '').trimEnd() ?? '';
    if (line.trim() === '') return;
    if (this.#mocha(line)) return;
    const text = line.trim().slice(0, lineMax);
    this.#last = [...this.#last.slice(1 - lastMax), text];
    const place = /^\s*(?:-->|❯) (\S+:\d+(?::\d+)?)/.exec(line)?.[1];
    if (place !== undefined) return this.#place(place);
    if (/^(?:\/|[A-Za-z]:\\|\.{0,2}\w[\w.-]*\/)?[\w@./\\-]+\.\w+$/.test(line)) this.#file = text;
    if (noise.some((pattern) => pattern.test(line))) return;
    const kind = rules.find(([, pattern]) => pattern.test(line))?.[0];
    if (kind !== undefined)
      this.#keep(kind, /^\s+\d+:\d+\s/.test(line) ? this.#ofFile(text) : text);
  }

  #ofFile(text: string): string {
    return this.#file === '' ? text : `${this.#file}:${text.replaceAll(/\s{2,}/g, '  ')}`;
  }

  #keep(kind: LineKind, text: string): void {
    if (kind === 'weak') {
      if (this.#weak.length < weakMax && !this.#weak.includes(text)) this.#weak.push(text);
    } else if (this.#kept.length < keptMax) this.#kept.push({ kind, text });
  }

  /** Adds the location to the error on the previous line (rustc, ruff, vitest). */
  #place(place: string): void {
    const last = this.#kept.at(-1);
    if (last?.kind === 'error' && !last.text.includes(place)) last.text += ` (${place})`;
  }

  /**
   * Parses Mocha's list of failures: a number with the outermost name, then nested names, the last
   * of which ends with a colon.
   */
  #mocha(line: string): boolean {
    if (/^\s+\d+ failing$/.test(line)) {
      this.#isMocha = true;
      return true;
    }
    // In the tree above that list, a failure is only a number and a name.
    if (!this.#isMocha) return /^\s+\d+\) \S/.test(line);
    const first = /^ {2}\d+\) (.+)$/.exec(line)?.[1];
    if (first !== undefined) {
      this.#names = [first];
      if (first.endsWith(':')) this.#endNames();
      return true;
    }
    if (this.#names === null) return false;
    this.#names.push(line.trim());
    if (line.endsWith(':') || this.#names.length > 10) this.#endNames();
    return true;
  }

  #endNames(): void {
    const names = (this.#names ?? []).join(' › ').replace(/:$/, '');
    this.#names = null;
    this.#keep('test', `✖ ${names}`.slice(0, lineMax));
  }

  /** Returns the lines in output order, without duplicates and each test with its message. */
  #chosen(): readonly string[] {
    const seen = new Set<string>();
    const chosen: string[] = [];
    let details = 0;
    // Pytest lists the failing tests after all of their messages.
    const isNamed = ({ text }: KeptLine): boolean => /^(?:FAILED|ERROR) \S+/.test(text);
    const inOrder = [...this.#kept.filter(isNamed), ...this.#kept.filter((line) => !isNamed(line))];
    for (const { kind, text } of inOrder) {
      const key = text.replace(durations, '').replace(/^[✖×✕✗✘●] /, '');
      if (seen.has(key) || (kind === 'detail' && details >= detailsMax)) continue;
      seen.add(key);
      details = kind === 'detail' ? details + 1 : 0;
      chosen.push(text.replace(durations, ''));
    }
    return chosen;
  }
}

export function failureLines(output: string, max = linesMax): readonly string[] {
  const telling = new FailureLines();
  telling.add(output);
  return telling.lines(max);
}

/** Returns the end of the output, preceded by explaining lines that the end does not contain. */
export function failureEvidence(telling: readonly string[], tail: string): string {
  const absent = telling.filter((line) => !tail.includes(line));
  return absent.length === 0 ? tail : `${absent.join('\n')}\n[…]\n${tail}`;
}
