// Takes issues with a label into the plan automatically: claims each one, imports the claimed ones,
// holds tasks that wait for other issues, and starts the runs.

import { Refusal } from '../core/failure.ts';
import {
  type Claimant,
  claimLabel,
  decideIssueClaim,
  intakeLabel,
  waitWords,
  withHolds,
  withoutClaims,
} from '../core/forge/intake.ts';
import type { Issue } from '../core/forge/issue.ts';
import { issueId, jsonlOfIssues, outsideIds, planOfIssues } from '../core/forge/issue-plan.ts';
import { chooseGathering } from '../core/forge/issue-query.ts';
import type { Answer } from '../forge/port.ts';
import { readTaskViews } from '../store/board/board-changes.ts';
import { importFile } from '../store/exchange/imports.ts';
import { holdForIssues } from '../store/forge/issue-holds.ts';
import { knownEpics } from '../store/forge/issues.ts';
import { movingInScope, newestRun } from '../store/port.ts';
import { readRepository } from '../store/rows/repository-rows.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';
import { startRun } from '../workflows/run/start-run.ts';
import type { ForgeAccess, ProjectForge } from './forge-access.ts';
import { nameIssues } from './plan-issues.ts';

export interface IntakeDeps {
  readonly engine: Engine;
  readonly project: ProjectForge;
  readonly maxAttempts: () => number;
}

type Look =
  | { readonly kind: 'done'; readonly problems: readonly string[] }
  /** Nothing was changed. */
  | { readonly kind: 'unread'; readonly why: string };

export class IssueIntake {
  readonly #deps: IntakeDeps;
  /** The problems of the last round, because each is reported only once. */
  #told = '';

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  async look(setting: string): Promise<void> {
    const { engine } = this.#deps;
    const label = intakeLabel(setting);
    const look =
      label === null ? { kind: 'unread' as const, why: noLabel } : await this.#take(label);
    const told = look.kind === 'unread' ? look.why : look.problems.join('; ');
    if (told === this.#told) return;
    this.#told = told;
    if (told === '') return;
    const data = { reason: engine.mask(told) };
    await engine.store.transaction((tx) => {
      return engine.store.append(tx, { type: 'issues.not_taken', data });
    });
  }

  async #take(label: string): Promise<Look> {
    const { engine, project } = this.#deps;
    const opened = await project.open();
    if (!opened.ok) return { kind: 'unread', why: opened.error.message };
    const { tracker, repository } = opened.value;
    const owner = await readRepository(engine.store.db);
    if (owner === null) return { kind: 'unread', why: 'The plan names no project yet' };
    const login = await tracker.login();
    if (login.kind !== 'facts') return unread(login);
    const query = { kind: 'label', label } as const;
    const listed = await tracker.issues(query);
    if (listed.kind !== 'facts') return unread(listed);
    const home = `${repository.owner}/${repository.name}`;
    const claimant = { label: claimLabel(owner.id), login: login.value };
    const ours = await this.#claimed(opened.value, listed.value, claimant);
    if (ours.kind !== 'facts') return unread(ours);
    await nameIssues(engine.store, ours.value, repository);
    const whole = planOfIssues(ours.value, home, chooseGathering(query));
    const problems = await this.#import(whole, home);
    const epics = whole.epics.map(({ id }) => id);
    return { kind: 'done', problems: [...problems, ...(await this.#startRuns(epics))] };
  }

  /** Issues that this project has, after claiming free ones. */
  async #claimed(
    { tracker, repository }: ForgeAccess,
    issues: readonly Issue[],
    claimant: Claimant,
  ): Promise<Answer<readonly Issue[]>> {
    const { db } = this.#deps.engine.store;
    const home = `${repository.owner}/${repository.name}`;
    const ids = issues.map((issue) => issueId(issue, home));
    const tasks = (await readTaskViews(db, ids)).map(({ id }) => id);
    const planned = new Set([...tasks, ...(await knownEpics(db, ids))]);
    const ours: Issue[] = [];
    for (const issue of issues) {
      if (!issue.isOpen) continue;
      const isPlanned = planned.has(issueId(issue, home));
      const claim = decideIssueClaim(issue, claimant, isPlanned);
      if (claim === 'ours' && isPlanned) ours.push(withoutClaims(issue));
      if (claim === 'withdraw') {
        const gone = await tracker.withdraw(issue, claimant.label);
        if (gone.kind !== 'facts') return gone;
      }
      // A list may be older than the response about the issue itself.
      if (claim !== 'free' && (claim !== 'ours' || isPlanned)) continue;
      const asked = await tracker.claim(issue, claimant);
      if (asked.kind !== 'facts') return asked;
      if (asked.value) ours.push(withoutClaims(issue));
    }
    return { kind: 'facts', value: ours };
  }

  /** Resolves with descriptions of the issues that could not be taken. */
  async #import(whole: ReturnType<typeof planOfIssues>, home: string): Promise<readonly string[]> {
    const { engine, maxAttempts } = this.#deps;
    const { store } = engine;
    const views = await readTaskViews(store.db, outsideIds(whole, home));
    const known = new Set(views.map(({ id }) => id));
    const { plan, waits } = withHolds(whole, home, (id) => known.has(id));
    const result = await importFile(store, {
      text: jsonlOfIssues(plan),
      badUtf8Lines: [],
      file: `issues of ${home}`,
      format: 'jsonl',
      dryRun: false,
      update: true,
      rename: false,
      skipInvalid: true,
      maxAttempts: maxAttempts(),
      also: (tx) => holdForIssues(tx, store.sources, waits),
    });
    // A running task gets its new text after its attempt.
    const faults = result.errors.filter(({ kind }) => kind !== 'differs');
    return [
      ...faults.map(({ id, message }) => `${id ?? home}: ${message}`),
      ...[...waits].map(([id, names]) => `${id} ${waitWords(names)}`),
    ];
  }

  async #startRuns(epics: readonly string[]): Promise<readonly string[]> {
    const { engine } = this.#deps;
    const refused: string[] = [];
    for (const epicId of epics) {
      if (!(await mayStart(engine, epicId))) continue;
      const { workers, target, land } = engine.settings();
      try {
        await startRun(engine, { workers, epicId, tasks: null, target, land, flags: {} });
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refused.push(`${epicId}: ${error.message}`);
      }
    }
    return refused;
  }
}

/** Whether some task can start, no run covers it, and no person has stopped the last run. */
async function mayStart(engine: Engine, epicId: string): Promise<boolean> {
  const { db } = engine.store;
  const last = await newestRun(db, { epicId });
  if (last?.state === 'active' || last?.state === 'stopped') return false;
  const scope = { epicId, exceptEpics: [], tasks: null };
  return (await movingInScope(db, scope, { canStart: true, heldEpics: [] })) > 0;
}

const noLabel = 'The setting forge.intake must name a label, as "label:drover"';

function unread(answer: Exclude<Answer<unknown>, { readonly kind: 'facts' }>): Look {
  if (answer.kind === 'unreadable') return { kind: 'unread', why: answer.why };
  return { kind: 'unread', why: 'The forge allows no more requests for now' };
}
