// Which settings of a repository a person accepted. Stored in git's own folder, which clones do not
// copy and a confined agent cannot see.

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPlainFile } from '../config/plain-file.ts';
import { refuseByPolicy } from './policy-files.ts';
import { projectFileName } from '../config/load.ts';
import {
  changedPowers,
  type PowerChange,
  type Powers,
  listPowers,
  powersWithout,
  sameValue,
  shownPower,
  unacceptedAmong,
  withPowers,
} from '../core/settings/accepted-settings.ts';
import { replaceFile } from '../files/write-whole.ts';
import { findCommonDir } from '../git/refs/common-dir.ts';
import { gitHome } from './project-places.ts';
import type { UnacceptedView } from '../protocol/views.ts';
import type { SettingEntry } from '../core/settings/settings-resolve.ts';

/** A setting whose value in the file is not used. */
export interface HeldSetting {
  readonly name: string;
  /**
   * Tasks or epics that landed the change. Null if it was made in another way since the last
   * `drover run`.
   */
  readonly by: string | null;
  /** As written in the file. */
  readonly shown: string;
}

export interface JudgedSettings {
  readonly entries: readonly SettingEntry[];
  readonly held: readonly HeldSetting[];
  /** The sensitive settings in the file. */
  readonly present: Powers;
  /** The values in use. */
  readonly used: Powers;
  /** The values that a run started now would use. */
  readonly offered: Powers;
  /** Null if the user has not accepted anything yet. */
  readonly accepted: Powers | null;
}

/**
 * `offered`: the values that a run would use if a person started it now; a person's changes apply,
 * an agent's do not. `accepted`: the values that a person last accepted, for a backend that starts
 * automatically.
 */
export type SettingsView = 'offered' | 'accepted';

interface Acceptance {
  readonly version: 1;
  /** Landings up to this commit are accepted, or were known at that time. */
  readonly head: string | null;
  readonly powers: Powers;
}

const recordBytesMax = 1024 * 1024;

export async function judgeSettings(
  root: string,
  entries: readonly SettingEntry[],
  view: SettingsView,
): Promise<JudgedSettings> {
  const present = listPowers(entries);
  const record = await readAcceptance(root);
  const accepted = record?.powers ?? null;
  const asIs = { entries, held: [], present, used: present, offered: present, accepted };
  const changes = changedPowers(accepted ?? {}, present);
  if (changes.length === 0) return asIs;
  const authors = record === null ? new Map() : await authorsOf(root, record, changes);
  const isHeld = ({ name }: PowerChange): boolean => view === 'accepted' || authors.has(name);
  const held = changes.filter(isHeld).map((change) => heldSetting(change, authors));
  const without = (names: Iterable<string>): Powers =>
    powersWithout(new Set(names), accepted ?? {}, present);
  const offered = without(authors.keys());
  if (held.length === 0) return { ...asIs, offered };
  const used = without(held.map(({ name }) => name));
  return { entries: withPowers(entries, used), held, present, used, offered, accepted };
}

/** Why settings of these groups cannot be used; null if a person has accepted all of them. */
export function unacceptedSentence(
  { accepted, present }: JudgedSettings,
  groups: readonly string[],
): string | null {
  const names = unacceptedAmong(groups, accepted ?? {}, present);
  if (names.length === 0) return null;
  const [verb, them] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${names.join(', ')} in ${projectFileName} ${verb} not accepted yet, and nothing was started. Review and accept ${them} with "drover trust".`;
}

function heldSetting(change: PowerChange, authors: ReadonlyMap<string, string>): HeldSetting {
  const { name, present } = change;
  return { name, by: authors.get(name) ?? null, shown: shownPower(name, present) };
}

/** Accepts the used values of the judged settings. Returns the new ones, one sentence each. */
export async function acceptSettings(
  root: string,
  judged: JudgedSettings,
): Promise<readonly string[]> {
  const { accepted, used, held } = judged;
  const news = accepted === null ? changedPowers({}, used) : changedPowers(accepted, used);
  if (news.length > 0) await refuseByPolicy('trust');
  if (accepted === null || news.length > 0) {
    const before = await readAcceptance(root);
    const { readHead: headOf } = await import('./file-history.ts');
    // The held values must be found again later.
    const head = held.length > 0 ? (before?.head ?? null) : await headOf(root);
    writeAcceptance(root, { version: 1, head, powers: used });
  }
  if (news.length === 0) return [];
  const list = news.map(({ name, present }) => shownPower(name, present)).join('; ');
  return [
    accepted === null
      ? `This run accepts the settings of ${projectFileName}: ${list}.`
      : `This run accepts changed settings of ${projectFileName}: ${list}.`,
  ];
}

/** Accepts all current values of the file, whichever process wrote them. */
export async function acceptAll(root: string, judged: JudgedSettings): Promise<void> {
  await refuseByPolicy('trust');
  const { readHead: headOf } = await import('./file-history.ts');
  writeAcceptance(root, { version: 1, head: await headOf(root), powers: judged.present });
}

export function heldSentence({ name, by }: HeldSetting): string {
  const who =
    by === null ? 'was changed since it was accepted' : `was changed by the landing of ${by}`;
  return `${name} in ${projectFileName} ${who}; the accepted value stays in use. Review it with "drover trust".`;
}

export function heldViews(held: readonly HeldSetting[]): readonly UnacceptedView[] {
  return held.map(({ name, by, shown }) => ({ setting: name, by, shown }));
}

/** Finds the landings since the last acceptance that made exactly this change. */
async function authorsOf(
  root: string,
  { head }: Acceptance,
  changes: readonly PowerChange[],
): Promise<ReadonlyMap<string, string>> {
  const { landedChanges } = await import('./file-history.ts');
  const { parseSettingsText } = await import('../config/toml-file.ts');
  const landed = (await landedChanges(root, projectFileName, head)) ?? [];
  const powersIn = (text: string | null): Powers =>
    text === null ? {} : listPowers(parseSettingsText(text, projectFileName).entries);
  const authors = new Map<string, string>();
  for (const { by, before, after } of landed) {
    const [from, to] = [powersIn(before), powersIn(after)];
    for (const { name, present } of changes) {
      const isIts = sameValue(to[name], present) && !sameValue(from[name], present);
      if (isIts && !authors.has(name)) authors.set(name, by);
    }
  }
  return authors;
}

async function readAcceptance(root: string): Promise<Acceptance | null> {
  const path = recordPath(root);
  if (path === null) return null;
  const file = await readPlainFile(path, { bytesMax: recordBytesMax, links: 'refuse' });
  if (file.kind !== 'read') return null;
  try {
    const parsed = JSON.parse(file.bytes.toString('utf8')) as Partial<Acceptance>;
    if (parsed.version !== 1 || typeof parsed.powers !== 'object') return null;
    return { version: 1, head: parsed.head ?? null, powers: parsed.powers };
  } catch {
    return null;
  }
}

/** If git's folder is not writable, each run accepts the values again. */
function writeAcceptance(root: string, acceptance: Acceptance): void {
  const path = recordPath(root);
  if (path === null) return;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    replaceFile(path, JSON.stringify(acceptance));
  } catch {
    // A run in a checkout that is not writable fails with a better sentence than this one.
  }
}

/** Returns null if the folder's files do not show that it is a checkout. */
function recordPath(root: string): string | null {
  const commonDir = findCommonDir(root);
  return commonDir === null ? null : join(gitHome(commonDir).folder, 'accepted-settings.json');
}
