// Decides what a reviewing agent's verdict on one task's merged tree means. Pure.

export const severities = ['blocking', 'minor'] as const;
export type Severity = (typeof severities)[number];

export const reviewVerdicts = ['pass', 'block'] as const;
export type ReviewVerdict = (typeof reviewVerdicts)[number];

export interface Finding {
  /** Null if it concerns no file, for example an unmet criterion. */
  readonly path: string | null;
  readonly line: number | null;
  readonly severity: Severity;
  readonly text: string;
  /** A person decided that the finding is wrong. */
  readonly isOverruled: boolean;
}

export interface JudgedCriterion {
  readonly text: string;
  readonly isMet: boolean;
  /** The reviewer's evidence: a location, or what is missing. */
  readonly evidence: string;
}

export function blockingAmong(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ severity, isOverruled }) => severity === 'blocking' && !isOverruled);
}

export interface ReviewFacts {
  /** Number of blocking findings that no person overruled; null if the review has no verdict. */
  readonly blocking: number | null;
  /** Number of earlier reviews that sent the task back. */
  readonly rounds: number;
  /** This exact tree was sent back before, so its author did not change it. */
  readonly wasSentBack: boolean;
  /** Whether another attempt may start. */
  readonly hasAttempts: boolean;
}

/** After this many rounds a person decides. */
export const roundsMax = 2;

export type ReviewStep =
  | { readonly kind: 'land' }
  | { readonly kind: 'send_back' }
  | { readonly kind: 'ask_person'; readonly why: 'no_verdict' | 'unchanged' | 'rounds' };

export function decideReview(facts: ReviewFacts): ReviewStep {
  const { blocking, rounds, wasSentBack, hasAttempts } = facts;
  if (blocking === null) return { kind: 'ask_person', why: 'no_verdict' };
  if (blocking === 0) return { kind: 'land' };
  if (wasSentBack) return { kind: 'ask_person', why: 'unchanged' };
  if (rounds >= roundsMax || !hasAttempts) return { kind: 'ask_person', why: 'rounds' };
  return { kind: 'send_back' };
}

/** `src/cart.ts:12: The total is wrong.` */
export function findingLine({ path, line, text }: Finding): string {
  if (path === null) return text;
  return `${path}${line === null ? '' : `:${line}`}: ${text}`;
}

/** Lists all findings for the author, blocking ones first. */
export function findingLines(findings: readonly Finding[]): string {
  const blocking = new Set(blockingAmong(findings));
  const minor = findings.filter((each) => !blocking.has(each) && !each.isOverruled);
  return [
    ...[...blocking].map((each) => `- ${findingLine(each)}`),
    ...minor.map((each) => `- (minor) ${findingLine(each)}`),
  ].join('\n');
}

export interface GivenReview {
  readonly verdict: string;
  readonly findings: readonly {
    readonly at?: string;
    readonly severity: string;
    readonly text: string;
  }[];
  /** One entry for each of the task's criteria, in their order. */
  readonly criteria: readonly { readonly met: boolean; readonly evidence: string }[];
}

export interface CheckedReview {
  readonly verdict: ReviewVerdict;
  readonly findings: readonly Finding[];
  readonly criteria: readonly JudgedCriterion[];
}

export const reviewBounds = { findings: 30, characters: 1_000 } as const;

/** Returns the valid review, or a sentence that tells the model what is wrong with it. */
export function checkReview(
  given: GivenReview,
  criteria: readonly string[],
): CheckedReview | string {
  if (given.findings.length > reviewBounds.findings) {
    return `${given.findings.length} findings are too many: name the ${reviewBounds.findings} most important.`;
  }
  if (given.criteria.length !== criteria.length) {
    return `The task has ${criteria.length} acceptance criteria, and you judged ${given.criteria.length}: judge each, in their order.`;
  }
  const judged = given.criteria.map(({ met, evidence }, at) => ({
    text: criteria[at] ?? '',
    isMet: met,
    evidence: shortened(evidence),
  }));
  if (judged.some(({ evidence }) => evidence === '')) return 'Give evidence for each criterion.';
  const read = given.findings.map(readFinding);
  const wrong = read.find((each) => typeof each === 'string');
  if (typeof wrong === 'string') return wrong;
  const unmet = judged.flatMap(({ text, isMet, evidence }) =>
    isMet ? [] : [unmetFinding(text, evidence)],
  );
  const findings = [...read.filter((each) => typeof each !== 'string'), ...unmet];
  const isBlocked = blockingAmong(findings).length > 0;
  if (given.verdict === 'pass' && isBlocked) {
    return 'The verdict is "pass", but a finding is blocking or a criterion is not met. Make them agree.';
  }
  if (given.verdict === 'block' && !isBlocked) {
    return 'The verdict is "block", but no finding is blocking and every criterion is met. Make them agree.';
  }
  const verdict = reviewVerdicts.find((each) => each === given.verdict);
  return verdict === undefined
    ? 'The verdict must be "pass" or "block".'
    : { verdict, findings, criteria: judged };
}

function unmetFinding(criterion: string, evidence: string): Finding {
  const text = `Not met: ${shortened(criterion)} (${evidence})`;
  return { path: null, line: null, severity: 'blocking', text, isOverruled: false };
}

function readFinding({
  at = '',
  severity,
  text,
}: GivenReview['findings'][number]): Finding | string {
  const kind = severities.find((each) => each === severity);
  if (kind === undefined) return 'The severity of a finding must be "blocking" or "minor".';
  const words = shortened(text);
  if (words === '') return 'A finding needs a sentence.';
  const [, path = null, line = null] = /^([^\0]+?)(?::([1-9]\d{0,6}))?$/u.exec(at.trim()) ?? [];
  const place = {
    path: path === null ? null : shortened(path),
    line: line === null ? null : Number(line),
  };
  if (kind === 'blocking' && (place.path === null || place.line === null))
    return 'A blocking finding needs its place as file:line.';
  return { ...place, severity: kind, text: words, isOverruled: false };
}

/** Formats the text as one short line without control characters. */
function shortened(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, reviewBounds.characters);
}

/** Formats the task's criteria, ticked if the review found them met, and the remaining findings. */
export function reviewWords(
  criteria: readonly string[],
  review: Pick<CheckedReview, 'criteria' | 'findings'> | null,
): { readonly criteria: readonly string[]; readonly findings: readonly string[] } {
  const met = new Set(review?.criteria.flatMap(({ text, isMet }) => (isMet ? [text] : [])));
  const left = review?.findings.filter(({ isOverruled }) => !isOverruled) ?? [];
  return {
    criteria: criteria.map((text) => (met.has(text) ? `[x] ${text}` : text)),
    findings: left.map(findingLine),
  };
}
