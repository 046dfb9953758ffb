// The git part of the hosted path: a repository only for the job, so that nothing from the platform
// reaches the project's own objects and refs before it is checked.

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '../core/failure.ts';
import { jobFolder } from '../core/work/job-files.ts';
import { gitEnvironment, shortened } from '../git/process/environment.ts';
import { ownIdentity } from '../git/process/identity.ts';
import { openGitProcesses, type GitProcesses } from '../git/process/process.ts';
import { programOnPath } from '../files/program-path.ts';
import { isText, safePath } from '../workers/client/exclusion.ts';
import type { SentEntry } from '../workers/client/pack.ts';
import { toSingleLine } from '../workers/client/request.ts';
import { resultCaps, type JobResult, type ResultFile } from '../workers/client/unpack.ts';
import type { PlanEntry, UploadPlan } from '../workers/client/upload-plan.ts';
import type { HostedBase, HostedGit } from '../workers/hosted/hosted-job.ts';

export interface HostedGitPlace {
  readonly projectRoot: string;
  /** An existing folder that only the job uses. */
  readonly scratch: string;
  /** Name of a remote of the project, or a URL. */
  readonly remote: string;
  readonly environment: NodeJS.ProcessEnv;
}

const planRef = 'refs/heads/drover-plan';
const fetchedRef = 'refs/drover/job';
/** Limit of content in memory at once. */
const batchBytes = 32 * 1024 * 1024;
const networkMs = 30 * 60_000;

export function openHostedGit(place: HostedGitPlace): HostedGit {
  return new JobRepository(place);
}

class GitError extends Error {}

class JobRepository implements HostedGit {
  readonly #place: HostedGitPlace;
  readonly #git: GitProcesses;
  readonly #folder: string;
  #address: string | null = null;

  constructor(place: HostedGitPlace) {
    this.#place = place;
    this.#folder = join(place.scratch, 'hosted.git');
    this.#git = openGitProcesses({
      binary: programOnPath('git', place.environment),
      environment: gitEnvironment(shortened(place.environment)),
      networkEnvironment: gitEnvironment(place.environment),
      concurrency: 1,
      maxOutputBytes: 4 * batchBytes,
      timeoutMs: 5 * 60_000,
    });
  }

  async pushBase(plan: UploadPlan, ref: string): Promise<Result<HostedBase, string>> {
    return await asResult('The base commit could not be pushed', async () => {
      await this.#run(['init', '--bare', '--quiet', this.#folder], this.#place.scratch);
      const sent = await this.#importFiles(plan);
      const tree = (await this.#text('rev-parse', `${planRef}^{tree}`)).trim();
      const made = await this.#text('commit-tree', tree, '-m', 'Base of a hosted job');
      const sha = made.trim();
      await this.#overNetwork('push', '--quiet', await this.#platform(), `${sha}:${ref}`);
      return { sha, sent };
    });
  }

  async fetchBranch(branch: string, base: HostedBase): Promise<Result<JobResult | null, string>> {
    return await asResult('The job branch could not be fetched', async () => {
      const address = await this.#platform();
      const found = await this.#overNetwork('ls-remote', address, branch);
      if (found.toString().trim() === '') return null;
      const spec = `+${branch}:${fetchedRef}`;
      const strictly = ['-c', 'transfer.fsckObjects=true', 'fetch', '--quiet', '--no-tags'];
      await this.#overNetwork(...strictly, '--no-write-fetch-head', address, spec);
      const ancestor = ['merge-base', '--is-ancestor', base.sha, fetchedRef];
      const { code } = await this.#git.run({ args: ancestor, cwd: this.#folder });
      if (code !== 0) throw new GitError('it does not descend from the base commit');
      return await this.#read(base);
    });
  }

  async removeBase(ref: string): Promise<void> {
    const removal = async (): Promise<void> => {
      await this.#overNetwork('push', '--quiet', await this.#platform(), `:${ref}`);
    };
    await removal().catch(() => undefined);
  }

  /** The URL of the project's remote: this repository has no remote of that name. */
  async #platform(): Promise<string> {
    if (this.#address !== null) return this.#address;
    const { remote, projectRoot } = this.#place;
    const args = ['remote', 'get-url', '--', remote];
    const named = await this.#git.run({ args, cwd: projectRoot });
    const address = named.code === 0 ? named.stdout.toString().trim() : remote;
    if (address.startsWith('-')) throw new GitError(`"${address}" is not a git remote`);
    this.#address = address;
    return address;
  }

  /** Contents as on the disk, without filters. */
  async #importFiles(plan: UploadPlan): Promise<ReadonlyMap<string, SentEntry>> {
    const sent = new Map<string, SentEntry>();
    const stream = new ImportBatches((input) =>
      this.#run(['fast-import', '--quiet', '--done'], this.#folder, input),
    );
    for (const entry of plan.entries) {
      const content = contentOf(plan.root, entry);
      sent.set(entry.path, sentEntry(entry, content));
      await stream.add(entry, content);
    }
    await stream.end();
    return sent;
  }

  /** The tree of the fetched commit, limited like a worker's archive. */
  async #read(base: HostedBase): Promise<JobResult> {
    const before = new Map((await this.#tree(base.sha)).map((entry) => [entry.path, entry]));
    const result = new ResultOfTree(join(this.#place.scratch, 'files'));
    const changed: TreeEntry[] = [];
    let total = 0;
    let count = 0;
    for (const entry of await this.#tree(fetchedRef)) {
      count += 1;
      total += entry.bytes;
      checkCaps(entry, total, count);
      const old = before.get(entry.path);
      const known = base.sent.get(entry.path);
      const isSame = old !== undefined && old.mode === entry.mode && old.sha === entry.sha;
      if (isSame && known !== undefined) result.keep(entry.path, known);
      else if (result.mayTake(entry)) changed.push(entry);
    }
    for (let at = 0; at < changed.length;) {
      const batch: TreeEntry[] = [];
      for (let size = 0; at < changed.length && (size < batchBytes || batch.length === 0);) {
        const entry = changed[at];
        if (entry === undefined) break;
        batch.push(entry);
        size += entry.bytes;
        at += 1;
      }
      const input = `${batch.map(({ sha }) => sha).join('\n')}\n`;
      const output = await this.#run(['cat-file', '--batch'], this.#folder, input);
      let start = 0;
      for (const entry of batch) {
        const content = output.indexOf('\n', start) + 1;
        result.take(entry, output.subarray(content, content + entry.bytes));
        start = content + entry.bytes + 1;
      }
    }
    return result.whole();
  }

  async #tree(commit: string): Promise<readonly TreeEntry[]> {
    const listed = await this.#text('ls-tree', '-r', '-z', '-l', '--full-tree', commit);
    return listed
      .split('\0')
      .filter((line) => line !== '')
      .map((line) => {
        const tab = line.indexOf('\t');
        const [mode = '', , sha = '', bytes = ''] = line.slice(0, tab).split(/ +/);
        return { mode, sha, bytes: bytes === '-' ? 0 : Number(bytes), path: line.slice(tab + 1) };
      });
  }

  async #text(...args: readonly string[]): Promise<string> {
    return (await this.#run(args, this.#folder)).toString();
  }

  async #run(args: readonly string[], cwd: string, input?: string | Buffer): Promise<Buffer> {
    const more = input === undefined ? {} : { input };
    return outputOf(await this.#git.run({ args, cwd, env: ownIdentity, ...more }));
  }

  async #overNetwork(...args: readonly string[]): Promise<Buffer> {
    const command = { args, cwd: this.#folder, network: true, timeoutMs: networkMs };
    return outputOf(await this.#git.run(command));
  }
}

type GitOutput = Awaited<ReturnType<GitProcesses['run']>>;

function outputOf({ code, problem, stdout, stderr }: GitOutput): Buffer {
  if (code === 0 && problem === null) return stdout;
  const said = toSingleLine(stderr.replace(/\/\/[^/@\s]*@/g, '//'), 600);
  throw new GitError(said === '' ? `git failed (${problem ?? String(code)})` : said);
}

async function asResult<T>(what: string, act: () => Promise<T>): Promise<Result<T, string>> {
  try {
    return ok(await act());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return err(`${what}: ${reason.replace(/\.$/, '')}.`);
  }
}

function contentOf(root: string, entry: PlanEntry): Buffer {
  if (entry.kind === 'link') return Buffer.from(entry.target);
  const file = openSync(join(root, entry.path), constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // The limits were checked with this size.
    if (fstatSync(file).size !== entry.bytes) {
      throw new GitError(`the file ${entry.path} changed while it was packed`);
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function sentEntry(entry: PlanEntry, content: Buffer): SentEntry {
  if (entry.kind === 'link') return { kind: 'link', target: entry.target };
  return { kind: 'file', sha256: sha256(content), isExecutable: entry.isExecutable };
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/** Quotes the path as C does. */
function quotedPath(path: string): string {
  const escaped = path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"`;
}

interface TreeEntry {
  readonly mode: string;
  readonly sha: string;
  readonly bytes: number;
  readonly path: string;
}

function checkCaps({ path, bytes }: TreeEntry, total: number, count: number): void {
  const { fileBytes, totalBytes, entries } = resultCaps;
  if (bytes > fileBytes) {
    throw new GitError(`its file ${path} exceeds max size (${bytes} > ${fileBytes} bytes)`);
  }
  if (total > totalBytes) throw new GitError(`it holds more than ${totalBytes} bytes`);
  if (count > entries) throw new GitError(`it holds more than ${entries} files`);
}

/** The files of one commit without a parent, in batches that fit into memory. */
class ImportBatches {
  readonly #import: (input: Buffer) => Promise<unknown>;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isFirst = true;

  constructor(importBatch: (input: Buffer) => Promise<unknown>) {
    this.#import = importBatch;
  }

  async add(entry: PlanEntry, content: Buffer): Promise<void> {
    const mode = entry.kind === 'link' ? '120000' : entry.isExecutable ? '100755' : '100644';
    const line = `M ${mode} inline ${quotedPath(entry.path)}\ndata ${content.length}\n`;
    this.#parts.push(Buffer.from(line), content, Buffer.from('\n'));
    this.#bytes += content.length;
    if (this.#bytes >= batchBytes) await this.#flush();
  }

  /** A plan without files becomes an empty commit. */
  async end(): Promise<void> {
    if (this.#parts.length > 0 || this.#isFirst) await this.#flush();
  }

  async #flush(): Promise<void> {
    const from = this.#isFirst ? '' : `from ${planRef}^0\n`;
    const head = `commit ${planRef}\ncommitter Drover <drover@localhost> 0 +0000\ndata 0\n${from}`;
    await this.#import(Buffer.concat([Buffer.from(head), ...this.#parts, Buffer.from('\ndone\n')]));
    this.#isFirst = false;
    this.#parts = [];
    this.#bytes = 0;
  }
}

/** Reads the part of a commit's tree that is copied to the worktree. */
class ResultOfTree {
  readonly #folder: string;
  readonly #files = new Map<string, ResultFile>();
  readonly #links = new Map<string, string>();
  readonly #jobFiles = new Map<string, string>();
  readonly #dropped: string[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  keep(path: string, entry: SentEntry): void {
    if (entry.kind === 'link') this.#links.set(path, entry.target);
    else this.#files.set(path, { ...entry, stored: '' });
  }

  mayTake({ path, mode }: TreeEntry): boolean {
    const isBlob = mode === '100644' || mode === '100755' || mode === '120000';
    const isPlain = safePath(path) === path && isText(path);
    const isGit = path.split('/').some((name) => name.toLowerCase() === '.git');
    if (isBlob && isPlain && !isGit) return true;
    this.#dropped.push(path);
    return false;
  }

  take({ path, mode }: TreeEntry, content: Buffer): void {
    if (mode === '120000') this.#links.set(path, content.toString());
    else if (path.startsWith(`${jobFolder}/`)) {
      this.#jobFiles.set(path.slice(jobFolder.length + 1), content.toString());
    } else {
      const stored = join(this.#folder, String(this.#files.size));
      writeFileSync(stored, content, { mode: 0o600 });
      const isExecutable = mode === '100755';
      this.#files.set(path, { stored, sha256: sha256(content), isExecutable });
    }
  }

  /** The commit's hash ensures that it is complete, so missing files were removed by the job. */
  whole(): JobResult {
    const shown = this.#dropped.slice(0, 5).join(', ');
    const notices = this.#dropped.length === 0 ? [] : [`Not taken from the job branch: ${shown}.`];
    return {
      files: this.#files,
      links: this.#links,
      jobFiles: this.#jobFiles,
      isComplete: true,
      notices,
    };
  }
}
