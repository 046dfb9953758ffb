// The git configuration of a confined program: the user's settings and the files that they name,
// except settings that need programs or keys outside of the sandbox.

import { isAbsolute, join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { readPlain, writeNew } from '../../files/small-files.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';

/**
 * Settings that control the form of files and commits. Excludes remotes, URLs, credential programs
 * and includes, whose settings are copied as if they were the user's own.
 */
const lentKeys =
  /^(?:core\.(?!hookspath|fsmonitor|sshcommand|gitproxy|askpass|alternaterefscommand|worktree|bare|editor|pager)[a-z]+|extensions\.(?:objectformat|worktreeconfig)|user\.[a-z]+|filter\..+|merge\..+|diff\..+|i18n\.[a-z]+|init\.[a-z]+|commit\.cleanup|lfs\.(?!url)[a-z]+)$/s;

/**
 * Settings that name files, often in the home folder, which a confined program cannot see. Git also
 * reads this expression.
 */
const fileKeys =
  /^(core\.(excludesfile|attributesfile)|commit\.template|diff\.orderfile|blame\.ignorerevsfile|mailmap\.file)$/;

const fileBytesMax = 1024 * 1024;

/**
 * Settings that need the user's programs, keys or connections. Filters stay on: without a filter
 * that encrypts, an agent would commit plain text.
 */
const switchedOff: Readonly<Record<string, string>> = {
  'commit.gpgsign': 'false',
  'tag.gpgsign': 'false',
  'tag.forcesignannotated': 'false',
  'log.showsignature': 'false',
  'core.fsmonitor': 'false',
  // A file instead of a folder: git finds no hook there, and no program can create one.
  'core.hookspath': '/dev/null',
  'core.sshcommand': 'ssh',
  'credential.helper': '',
};

interface Setting {
  readonly scope: string;
  readonly key: string;
  readonly value: string;
}

/** User settings that differ in a sandbox, by key. */
export interface LentNames {
  /** Settings whose files are copied. */
  readonly brought: readonly string[];
  readonly off: readonly string[];
}

/** `folder`: the lent git folder, which receives the copied files. */
export async function lentConfiguration(
  context: RepositoryContext,
  worktree: LinkedWorktree,
  folder: string,
): Promise<GitResult<string>> {
  const listed = await list(context, ['--list'], worktree.path);
  if (!listed.ok) return listed;
  const lines = ['[core]', '\tbare = false', '\tlogAllRefUpdates = true'];
  for (const { scope, key, value } of listed.value) {
    const isLent = scope !== 'command' && lentKeys.test(key) && !fileKeys.test(key);
    if (isLent) lines.push(...configLines(key, value));
  }
  if (listed.value.some(({ key }) => fileKeys.test(key))) {
    const files = await list(
      context,
      ['--type=path', '--get-regexp', fileKeys.source],
      worktree.path,
    );
    if (!files.ok) return files;
    for (const [at, { key, value }] of files.value.entries()) {
      const name = join('info', `user.${at}`);
      const isBrought = await bring(value, worktree, join(folder, name));
      lines.push(...configLines(key, isBrought ? join(context.commonDir, name) : value));
    }
  }
  for (const [key, value] of Object.entries(switchedOff)) lines.push(...configLines(key, value));
  return ok(`${lines.join('\n')}\n`);
}

/**
 * Git resolves a relative path inside the worktree. It is not followed here, because agents write
 * there and a link could name any of the user's files.
 */
async function bring(path: string, worktree: LinkedWorktree, target: string): Promise<boolean> {
  if (!isAbsolute(path) || path.startsWith(`${worktree.path}/`)) return false;
  const content = readPlain(path, fileBytesMax);
  if (content === null) return false;
  await writeNew(target, content);
  return true;
}

export async function lentNames(context: RepositoryContext): Promise<GitResult<LentNames>> {
  const listed = await list(context, ['--list']);
  if (!listed.ok) return listed;
  const values = new Map<string, string>();
  for (const { scope, key, value } of listed.value)
    if (scope !== 'command')
      values.set(key.replace(/^credential\..*\.helper$/s, 'credential.helper'), value);
  const isSet = (key: string): boolean => !['', 'false', undefined].includes(values.get(key));
  return ok({
    brought: [...values]
      .filter(([key, value]) => fileKeys.test(key) && /^[/~]/.test(value))
      .map(([key]) => key),
    off: Object.keys(switchedOff).filter(isSet),
  });
}

/** Settings from the command line are Drover's and are omitted. */
async function list(
  context: RepositoryContext,
  what: readonly string[],
  at?: string,
): Promise<GitResult<readonly Setting[]>> {
  const args = ['config', '-z', '--show-scope', ...what];
  const output = await context.git(args, at === undefined ? {} : { at });
  if (output.code !== 0) return err(failureOf(output, 'read the configuration of git'));
  const parts = output.stdout.toString().split('\0');
  const settings: Setting[] = [];
  for (let from = 0; from + 1 < parts.length; from += 2) {
    const [scope = '', item = ''] = parts.slice(from, from + 2);
    const end = item.indexOf('\n');
    const key = end === -1 ? item : item.slice(0, end);
    settings.push({ scope, key, value: end === -1 ? 'true' : item.slice(end + 1) });
  }
  return ok(settings);
}

function configLines(key: string, value: string): string[] {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const section = key.slice(0, first);
  const inner =
    first === last ? '' : ` "${key.slice(first + 1, last).replaceAll(/["\\]/g, '\\$&')}"`;
  const text = value.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return [`[${section}${inner}]`, `\t${key.slice(last + 1)} = "${text}"`];
}
