// The repositories of the fake GitHub: git's own server program behind HTTP.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';

const environment = { PATH: process.env['PATH'], HOME: tmpdir(), GIT_CONFIG_NOSYSTEM: '1' };

export class GitBackend {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fake-github-'));
  /** Maps a branch to the commits that were pushed to it, in order. */
  readonly pushes: string[] = [];

  /** The folder, for a test that must not wait for the fake's own process. */
  path(slug: string): string {
    return join(this.#folder, `${slug}.git`);
  }

  create(slug: string): void {
    const path = this.path(slug);
    execFileSync('git', ['init', '-q', '--bare', '-b', 'main', path], { env: environment });
    this.git(slug, 'config', 'http.receivepack', 'true');
    this.git(slug, 'config', 'core.logAllRefUpdates', 'always');
  }

  /** The old name leads to the same repository. */
  rename(slug: string, to: string): void {
    renameSync(this.path(slug), this.path(to));
    symlinkSync(this.path(to), this.path(slug));
  }

  git(slug: string, ...args: readonly string[]): string {
    const path = this.path(slug);
    const identity = ['-c', 'user.name=A Person', '-c', 'user.email=person@localhost'];
    return execFileSync('git', ['-C', path, ...identity, ...args], {
      env: environment,
      encoding: 'utf8',
    }).trim();
  }

  tip(slug: string, branch: string): string | null {
    try {
      const loose = join(this.path(slug), 'refs', 'heads', branch);
      if (existsSync(loose)) return readFileSync(loose, 'utf8').trim();
      return this.git(slug, 'rev-parse', '--verify', '-q', `refs/heads/${branch}`);
    } catch {
      return null;
    }
  }

  /** Commits on a branch as a person, with one additional file. */
  commit(slug: string, branch: string, file: string, text: string): string {
    const parent = this.tip(slug, branch);
    const index = join(this.#folder, 'index');
    const env = { ...environment, GIT_INDEX_FILE: index };
    const run = (args: readonly string[], input = ''): string =>
      execFileSync('git', ['-C', this.path(slug), ...args], {
        env: { ...env, ...person },
        input,
        encoding: 'utf8',
      }).trim();
    if (parent !== null) run(['read-tree', parent]);
    const blob = run(['hash-object', '-w', '--stdin'], text);
    run(['update-index', '--add', '--cacheinfo', `100644,${blob},${file}`]);
    const tree = run(['write-tree']);
    const parents = parent === null ? [] : ['-p', parent];
    const made = run(['commit-tree', tree, ...parents, '-m', `Add ${file}`]);
    run(['update-ref', `refs/heads/${branch}`, made]);
    rmSync(index, { force: true });
    return made;
  }

  /** Merges like the button on the page; resolves with the commit on the base. */
  merge(slug: string, base: string, head: string, how: 'merge' | 'squash' | 'rebase'): string {
    const tip = this.tip(slug, base) ?? '';
    if (how === 'rebase') return this.#rebase(slug, base, tip, head);
    const [tree = ''] = this.git(slug, 'merge-tree', '--write-tree', tip, head).split('\n');
    const parents = how === 'merge' ? ['-p', tip, '-p', head] : ['-p', tip];
    const made = this.git(slug, 'commit-tree', tree, ...parents, '-m', 'Merge pull request');
    this.git(slug, 'update-ref', `refs/heads/${base}`, made, tip);
    return made;
  }

  #rebase(slug: string, base: string, tip: string, head: string): string {
    const path = ['rev-list', '--reverse', '--no-merges', `${tip}..${head}`];
    let made = tip;
    for (const commit of this.git(slug, ...path).split('\n')) {
      // Applies only the commit's own change, on top of the current state.
      const parent = ['-p', `${commit}^`];
      const ours = this.git(slug, 'commit-tree', `${made}^{tree}`, ...parent, '-m', 'ours');
      const [tree = ''] = this.git(slug, 'merge-tree', '--write-tree', ours, commit).split('\n');
      if (tree === this.git(slug, 'rev-parse', `${made}^{tree}`)) continue;
      made = this.git(slug, 'commit-tree', tree, '-p', made, '-m', 'Rebased');
    }
    this.git(slug, 'update-ref', `refs/heads/${base}`, made, tip);
    return made;
  }

  /** The commit that the merge queue tests; the base does not move. */
  group(slug: string, base: string, head: string): string {
    const tip = this.tip(slug, base) ?? '';
    const [tree = ''] = this.git(slug, 'merge-tree', '--write-tree', tip, head).split('\n');
    return this.git(slug, 'commit-tree', tree, '-p', tip, '-p', head, '-m', 'Merge group');
  }

  /** Runs it as a CGI program. */
  async serve(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const url = new URL(request.url ?? '', 'http://localhost');
    const isPush = url.pathname.endsWith('git-receive-pack') && request.method === 'POST';
    if (isPush) this.pushes.push(url.pathname);
    const child = spawn('git', ['http-backend'], {
      env: {
        ...environment,
        GIT_PROJECT_ROOT: this.#folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        CONTENT_LENGTH: String(body.length),
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REMOTE_USER: 'person',
      },
    });
    // A program that exits without reading closes its pipe.
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf('\r\n\r\n');
    const headers = whole.subarray(0, end).toString('utf8').split('\r\n');
    const status = headers.find((line) => line.startsWith('Status: '));
    response.statusCode = status === undefined ? 200 : Number(status.slice(8, 11));
    for (const line of headers) {
      const at = line.indexOf(': ');
      if (at > 0 && !line.startsWith('Status'))
        response.setHeader(line.slice(0, at), line.slice(at + 2));
    }
    response.end(whole.subarray(end + 4));
  }

  close(): void {
    removeFolder(this.#folder);
  }
}

const person = {
  GIT_AUTHOR_NAME: 'A Person',
  GIT_AUTHOR_EMAIL: 'person@localhost',
  GIT_COMMITTER_NAME: 'A Person',
  GIT_COMMITTER_EMAIL: 'person@localhost',
};
