// Runs `drover web` for an editor, in a separate process that ends with this one.

import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ServedPage } from '../protocol/web/wire.ts';

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

const errorBytesMax = 64 * 1024;

export function servePage(root: string, env: NodeJS.ProcessEnv): ServedPage {
  return new PageProgram(root, env);
}

class PageProgram implements ServedPage {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting: Waiting[] = [];
  #hasFirst = false;
  #errors = '';
  isOver = false;

  constructor(root: string, env: NodeJS.ProcessEnv) {
    const program = fileURLToPath(new URL('./cli.js', import.meta.url));
    const args = ['--no-warnings', program, 'web', '--json', '--links'];
    this.#child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (this.#errors.length < errorBytesMax) this.#errors += text;
    });
    createInterface({ input: this.#child.stdout }).on('line', (line) => {
      this.#waiting.shift()?.resolve(line);
    });
    this.#child.on('error', (error) => this.#ended(error.message));
    this.#child.on('close', () => this.#ended(this.#errors.trim()));
  }

  async link(): Promise<string> {
    // The first line is printed without a request.
    if (this.#hasFirst) this.#child.stdin.write('\n');
    this.#hasFirst = true;
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      if (this.isOver) this.#ended(this.#errors.trim());
    });
    const { url, error } = JSON.parse(line) as { url?: string; error?: { message: string } };
    if (url === undefined) throw new Error(error?.message ?? line);
    return url;
  }

  end(): void {
    this.#child.stdin.end();
  }

  #ended(words: string): void {
    this.isOver = true;
    const error = new Error(words === '' ? 'The page is no longer served.' : words);
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
