// The settings that Drover Code would use from the checkout without asking: programs that it starts
// before any question, and rules that extend its permissions. The user confirms them once, and
// again after a change.

import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { failure } from '../../core/failure.ts';
import type { AgentOutcome } from '../port.ts';
import type { DroverCodeRun } from './headless-run.ts';

/** The locations in which the program searches for a project's settings. */
const settingsFiles = [
  '.claude/settings.json',
  '.claude/settings.local.json',
  '.drover/settings.json',
  '.drover/settings.local.json',
];
/** Of these files, only keys that start or allow something count. */
const riskyKeys = ['mcpServers', 'allowedTools', 'commands', 'env', 'hooks'];
/** Its policy rules, and commands that contain shell code. */
const folders = ['beads', 'drover-code/beads', '.drover/commands', '.claude/commands'];

const filesMax = 2_000;
const bytesMax = 1024 * 1024;
const shownMax = 40;
const lineCharsMax = 300;

interface CheckoutMatter {
  /** Hash of the content. The same content in another worktree has the same hash. */
  readonly hash: string;
  /** One line each, limited in number. */
  readonly lines: readonly string[];
}

/** Returns null if the checkout contains none of these. */
export function checkoutMatter(root: string): CheckoutMatter | null {
  const hash = createHash('sha256');
  const lines: string[] = [];
  const say = (line: string): void => {
    hash.update(`${line}\0`);
    lines.push(line.length > lineCharsMax ? `${line.slice(0, lineCharsMax)}…` : line);
  };
  for (const file of settingsFiles) settingsLines(root, file).forEach(say);
  for (const folder of folders) folderLines(root, folder).forEach(say);
  if (lines.length === 0) return null;
  const more = lines.length - shownMax;
  const shown = more > 0 ? [...lines.slice(0, shownMax), `and ${more} more`] : lines;
  return { hash: hash.digest('hex'), lines: shown };
}

function settingsLines(root: string, file: string): string[] {
  const path = join(root, file);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isFile() || stat.size > bytesMax) return [`${file}: not a file that can be shown`];
  try {
    const settings = JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>;
    return riskyKeys
      .filter((key) => settings[key] !== undefined)
      .map((key) => `${file}: ${key} = ${JSON.stringify(settings[key])}`);
  } catch {
    return [`${file}: cannot be read as JSON`];
  }
}

/** Every file with the hash of its content. Links are not followed. */
function folderLines(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  const lines: string[] = [];
  const waiting = [folder];
  for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
    const stat = lstatSync(join(root, place));
    if (stat.isDirectory()) {
      const names = readdirSync(join(root, place)).toSorted();
      waiting.push(...names.map((name) => `${place}/${name}`));
    } else lines.push(`${place} (${contentMark(join(root, place), stat)})`);
    if (lines.length + waiting.length > filesMax) return [...lines, `${folder}: too many files`];
  }
  return lines;
}

function contentMark(
  path: string,
  stat: { isFile(): boolean; isSymbolicLink(): boolean; readonly size: number },
): string {
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (!stat.isFile() || stat.size > bytesMax) return 'cannot be shown';
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12);
}

/** Stores one file for each content that was allowed. */
class CheckoutConsents {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  has(hash: string): boolean {
    return existsSync(join(this.#folder, hash));
  }

  add(hash: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(this.#folder, hash), '', { mode: 0o600 });
  }
}

const choices = { allow: 'Use them', refuse: 'Do not run' } as const;

/** Returns null if it may run. Starts nothing before that. */
export async function askForConsent(
  { request, record, host, signal, deps }: DroverCodeRun,
  consents = new CheckoutConsents(deps.consentFolder ?? defaultFolder()),
): Promise<AgentOutcome | null> {
  const matter = checkoutMatter(request.cwd);
  if (matter === null || consents.has(matter.hash)) return null;
  const requestId = `checkout-${matter.hash.slice(0, 16)}`;
  const question = {
    type: 'question',
    requestId,
    kind: 'permission',
    text: record.mask(consentQuestion(matter)),
    choices: Object.values(choices),
  } as const;
  record.emit(question);
  const choice = await host.ask(question, signal);
  if (choice === null || signal.aborted) {
    record.emit({ type: 'question_withdrawn', requestId });
    return { kind: 'stopped' };
  }
  record.emit({ type: 'answered', requestId, choice });
  if (choice === choices.allow) {
    consents.add(matter.hash);
    return null;
  }
  const message = `Drover Code was not started: its settings in the checkout were refused (${matter.lines.length} lines). Remove them from the branch, or use another agent.`;
  return { kind: 'failed', failure: { ...failure('agent_failed', message), retryable: false } };
}

/** The user's folder and not the repository's, which could contain its own consent. */
function defaultFolder(): string {
  const state = process.env['XDG_STATE_HOME'] ?? join(homedir(), '.local', 'state');
  return join(state, 'drover', 'drover-code-consents');
}

function consentQuestion({ lines }: CheckoutMatter): string {
  return [
    'This checkout contains files that Drover Code would run or follow without asking:',
    ...lines.map((line) => `- ${line}`),
    'May it run here?',
  ].join('\n');
}
