// Computes the verdict on finished work from facts: the changed files, the held files and the type
// of the task. An agent's free text never decides it.

import { expectsCommit, type ReviewKind, type Verdict } from './task.ts';

/** Facts known after an agent has succeeded and its remaining changes are committed. */
export interface WorkFacts {
  /** Its first line becomes the reason. */
  readonly summary: string;
  /** Whether the base has been changed, by commits or by files that were not committed. */
  readonly changed: boolean;
  /** Files that were not committed, for example because of their name or size. */
  readonly held: readonly string[];
  /** For files held because of their content: a description of that content. */
  readonly heldFor?: Readonly<Record<string, string>>;
  /** For files held because of their names: the reason. */
  readonly unportable?: Readonly<Record<string, string>>;
  /** For files held for another reason: that reason. */
  readonly heldCauses?: Readonly<Record<string, HeldCause>>;
  /** Changed files that affect what programs do later. */
  readonly protected: readonly string[];
  /** Files in which the work left a conflict with landed work undecided. */
  readonly undecided?: Undecided | null;
  readonly task: { readonly type: string };
  /** The tree is unchanged, but the agent put work into a stash or on another branch. */
  readonly aside?: boolean;
  /** Ignored files written by the attempt. */
  readonly ignored?: IgnoredFiles;
}

/** Why a file or folder is held, unless its content is the reason. */
export type HeldCause = 'name' | 'size' | 'repository' | 'submodule' | LinkOut;

/** A link that leads out of the project. */
export interface LinkOut {
  readonly target: string;
}

export interface IgnoredFiles {
  readonly files: readonly string[];
  /** Describes the files if a snapshot cannot keep them all; null if it can. */
  readonly unkept: string | null;
}

export interface Undecided {
  /** Files that still contain conflict markers. */
  readonly marked: readonly string[];
  /** Files with a conflict whose lines are those from before both changes. */
  readonly asBase: readonly string[];
}

export interface Judgement {
  readonly verdict: Verdict;
  /** One short line for people. */
  readonly reason: string;
  readonly next:
    | { readonly kind: 'land' }
    | { readonly kind: 'complete_without_commit' }
    | {
        readonly kind: 'needs_review';
        readonly review: Extract<
          ReviewKind,
          'no_changes' | 'held_files' | 'protected' | 'unmerged'
        >;
      };
}

const maxReasonLength = 200;
/** Longer than the usual limit, because it contains a remedy for each file. */
const maxRemediesLength = 400;
const heldNamed = 5;

export function judgeWork(facts: WorkFacts): Judgement {
  // Held files take precedence, because landing the rest would omit half of the work.
  if (facts.held.length > 0) {
    const also = [
      ...(facts.protected.length > 0 ? [changesProtected(facts.protected)] : []),
      ...ignoredSentence(facts),
    ];
    return {
      verdict: 'unknown',
      reason: firstLine(
        [`held back, never committed: ${named(withReasons(facts))}`, ...also].join('; '),
        maxRemediesLength,
      ),
      next: { kind: 'needs_review', review: 'held_files' },
    };
  }
  if (facts.changed && facts.protected.length > 0) {
    return {
      verdict: 'unknown',
      reason: firstLine([changesProtected(facts.protected), ...ignoredSentence(facts)].join('; ')),
      next: { kind: 'needs_review', review: 'protected' },
    };
  }
  if (facts.changed && facts.undecided !== undefined && facts.undecided !== null) {
    return {
      verdict: 'unknown',
      reason: firstLine(leavesUndecided(facts.undecided)),
      next: { kind: 'needs_review', review: 'unmerged' },
    };
  }
  const summary = withIgnored(facts);
  if (facts.changed) return { verdict: 'pass', reason: summary, next: { kind: 'land' } };
  if (!expectsCommit(facts.task)) {
    return { verdict: 'pass', reason: summary, next: { kind: 'complete_without_commit' } };
  }
  return {
    verdict: 'unknown',
    reason: firstLine(
      [
        facts.ignored === undefined
          ? 'the agent succeeded but changed nothing'
          : 'the agent succeeded but changed nothing that git tracks',
        ...ignoredSentence(facts),
        ...(facts.aside === true
          ? ['work that it moved elsewhere (a stash, another branch) is kept as a snapshot']
          : []),
      ].join('; '),
    ),
    next: { kind: 'needs_review', review: 'no_changes' },
  };
}

/** Appends the ignored files to the summary unless the result is too long. */
function withIgnored(facts: WorkFacts): string {
  const { summary } = facts;
  const [said] = ignoredSentence(facts);
  if (said === undefined) return firstLine(summary);
  const own = firstLine(summary, maxReasonLength - said.length - ' ()'.length);
  return firstLine(own === '' ? said : `${own} (${said})`);
}

function ignoredSentence({ ignored }: Pick<WorkFacts, 'ignored'>): readonly string[] {
  if (ignored === undefined) return [];
  const { files, unkept } = ignored;
  if (unkept !== null) return [`${unkept} are neither committed nor kept: ${named(files)}`];
  const count = files.length === 1 ? '1 ignored file was' : `${files.length} ignored files were`;
  return [`${count} not committed: ${named(files)}`];
}

function withReasons({
  held,
  heldFor = {},
  unportable = {},
  heldCauses = {},
}: WorkFacts): readonly string[] {
  return held.map((path) => {
    if (path in heldFor) return `${path} (appears to contain a ${heldFor[path]})`;
    if (path in unportable) return `${path} (${unportable[path]})`;
    const cause = heldCauses[path];
    return cause === undefined ? path : `${path} (${causeWords(cause, path)})`;
  });
}

/** Describes the cause and its remedy. */
function causeWords(cause: HeldCause, path: string): string {
  if (typeof cause === 'object') {
    return `a link out of the project, to ${cause.target}: remove it, or name it in links_allowed under [protect]`;
  }
  switch (cause) {
    case 'repository':
      return `a git repository: remove ${path.replace(/\/$/u, '')}/.git, or add it as a submodule`;
    case 'submodule':
      return 'a submodule whose changes are not on its remote: push them there';
    case 'size':
      return 'larger than max_commit_file_size';
    case 'name':
      return 'its name looks like a secret';
  }
}

function changesProtected(files: readonly string[]): string {
  return `changes protected files: ${named(files)}`;
}

function leavesUndecided({ marked, asBase }: Undecided): string {
  const parts = [
    ...(marked.length > 0 ? [`leaves conflict markers in ${named(marked)}`] : []),
    ...(asBase.length > 0 ? [`leaves the lines from before both changes in ${named(asBase)}`] : []),
  ];
  return parts.join(', and ');
}

function named(files: readonly string[]): string {
  const more = files.length > heldNamed ? ` and ${files.length - heldNamed} more` : '';
  return `${files.slice(0, heldNamed).join(', ')}${more}`;
}

/** Returns the first non-blank line, shortened, for `verdict_reason`. */
export function firstLine(text: string, max = maxReasonLength): string {
  const line = text.split(/[\r\n]+/).find((candidate) => candidate.trim() !== '') ?? '';
  const clean = line.trim();
  return clean.length > max ? `${clean.slice(0, Math.max(max - 1, 0))}…` : clean;
}
