// Reads the log of a job: why the job failed, and whether the failure is about the work of the pull
// request. Pure.

import { FailureLines, failureEvidence } from '../prompt/failure-lines.ts';

export interface JobLog {
  /** The lines that explain the failure, then the end of the log; about 8 kB. */
  readonly evidence: string;
  /** True if the log names a file of the pull request. */
  readonly isOurs: boolean;
}

const tellingMax = 20;
const tailMax = 2 * 1024;
/** Number of lines that are searched for file names. A huge log must not take a minute to read. */
const linesMax = 100_000;

/** Reads a log while it is downloaded. */
export class JobLogReader {
  readonly #telling = new FailureLines();
  readonly #names: readonly string[];
  #rest = '';
  #tail = '';
  #lines = 0;
  #isOurs = false;

  /** `paths`: the files that the pull request changes. */
  constructor(paths: readonly string[]) {
    // A tool that runs in a subfolder prints only the file's name, followed by a line number.
    this.#names = [...new Set(paths.flatMap((path) => [path, `${path.split('/').at(-1)}:`]))];
  }

  add(text: string): void {
    const lines = `${this.#rest}${text}`.split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, tailMax);
    this.#take(lines);
  }

  end(): JobLog {
    this.#take([this.#rest]);
    if (this.#telling.isFull) this.#telling.addEnd(this.#tail);
    const tail = this.#tail.trim();
    return {
      evidence: failureEvidence(this.#telling.lines(tellingMax), tail),
      isOurs: this.#isOurs,
    };
  }

  #take(raw: readonly string[]): void {
    const lines = raw.map(withoutFrame);
    this.#isOurs ||= lines
      .slice(0, Math.max(0, linesMax - this.#lines))
      .some((line) => this.#names.some((name) => line.includes(name)));
    this.#lines += lines.length;
    const text = lines.map((line) => `${line}\n`).join('');
    this.#telling.add(text);
    // Only whole lines are kept, so that a secret can be masked as a whole.
    const all = `${this.#tail}${text}`;
    const cut = all.length <= tailMax ? 0 : all.indexOf('\n', all.length - tailMax) + 1;
    this.#tail = all.slice(cut);
  }
}

/** GitHub puts a time before each line, and marks some lines as commands for its page. */
function withoutFrame(line: string): string {
  return line
    .replace(/^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z /u, '')
    .replace(/^##\[(?:error|warning|group|endgroup|debug|notice|section|command)\]/u, '');
}
