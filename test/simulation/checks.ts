// The invariants, checked at every event, every ref move and every agent start.

import type { AgentRequest } from '../../server/agents/port.ts';
import type { AgentKind } from '../../server/core/plan/task.ts';
import {
  changedBetween,
  type Files,
  type SimulatedCommit,
} from '../doubles/simulated-git-objects.ts';
import type { SimulatedAgent } from '../doubles/simulated-agents.ts';
import type { RefMove } from '../doubles/simulated-repository.ts';
import { planMark } from './agent-plans.ts';
import { type FeedEvent, Replay } from './replay.ts';
import { isGreen } from './scenario.ts';
import type { World } from './world.ts';
import type { Sha } from '../../server/git/sha.ts';

interface ClaimFacts {
  /** The blockers' commits at the time of the claim. */
  readonly commits: ReadonlyMap<string, Sha>;
}

export class Checks {
  readonly #world: World;
  readonly replay: Replay;
  readonly #claims = new Map<string, ClaimFacts>();
  /** Completed tasks with their landed commit, if any. */
  readonly #completed = new Map<string, Sha | null>();

  /** Parts whose agent has finished and was recorded. */
  readonly #ended = new Set<string>();
  /** Each task's claims so far, according to the feed: each increases the epoch by one. */
  readonly #epochs = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
    this.replay = new Replay(world);
    this.replay.onEvent = (event) => this.#event(event);
    world.agents.observer = {
      agentStarting: (request, kind) => this.#agentStarting(request, kind),
    };
    world.commands.onStart = ({ cwd, runId }) => this.#commandStarting(cwd, runId);
    world.repository.observer = {
      refsMoved: (moves) => this.#refsMoved(moves),
      filesReplaced: (path, before, after) => this.#filesReplaced(path, before, after),
    };
  }

  afterStep(): void {
    if (!this.#world.hasNews) return;
    this.#world.hasNews = false;
    this.replay.read();
  }

  #event(event: FeedEvent): void {
    if (event.type === 'gate.passed') this.#checkFlaky(event);
    const id = event.task_id;
    if (id === null) return;
    // For a retry, it is the provider's answer.
    const status = event.type === 'agent.retry' ? undefined : event.data['status'];
    if (status === 'completed') this.#completed.set(id, this.#landedSha(id));
    else if (status !== undefined) this.#uncomplete(id, event);
    if (event.type === 'agent.ended') {
      const attempt = Number(event.data['attempt']);
      this.#ended.add(partOf(id, attempt, this.#epochs.get(this.#rootOf(id)) ?? 0));
    }
    const isClaim = event.type === 'task.claimed' || event.type === 'task.resumed';
    if (!isClaim || event.data['worker'] === undefined) return;
    this.#epochs.set(id, (this.#epochs.get(id) ?? 0) + 1);
    // A waiting task may resume on other work of a blocker that was reset and has landed again.
    this.#claimed(id);
  }

  /** A second try that passes where the first one failed is reported as such. */
  #checkFlaky({ data }: FeedEvent): void {
    const { ends } = this.#world.commands;
    const [first, second] = [1, 2].map((part) => `p/gate/${String(data['commit'])}/${part}`);
    if (ends.get(first ?? '') !== false || ends.get(second ?? '') !== true) return;
    if (data['flaky'] !== true)
      this.#world.violate('tested-tree', `${String(data['tree'])} was red first, and is not flaky`);
  }

  #rootOf(id: string): string {
    const rows = this.#world.rows<{ id: string }>(
      `with recursive above (id, parent_id) as (
         select id, parent_id from tasks where id = ?
         union select t.id, t.parent_id from tasks t join above a on t.id = a.parent_id)
       select id from above where parent_id is null`,
      id,
    );
    return rows[0]?.id ?? id;
  }

  /** Only a person can move a task out of a final state. */
  #uncomplete(id: string, event: FeedEvent): void {
    if (this.#completed.delete(id) && !['task.retry', 'task.reset'].includes(event.type))
      this.#world.violate('run-again', `${id} was completed; ${event.type} begins it again`);
  }

  #landedSha(id: string): Sha | null {
    const [row] = this.#world.rows<{ landed_sha: string | null }>(
      'select landed_sha from tasks where id = ?',
      id,
    );
    return row?.landed_sha ?? null;
  }

  #familyOf(id: string): string[] {
    const rows = this.#world.rows<{ id: string }>(
      `with recursive family (id) as (
         select ? union select t.id from tasks t join family f on t.parent_id = f.id)
       select id from family`,
      id,
    );
    return rows.map((row) => row.id);
  }

  #claimed(id: string): void {
    const family = this.#familyOf(id);
    const commits = new Map<string, Sha>();
    for (const member of family) {
      // A canceled sub-task stays out of the work, and so do the tasks that waited for it.
      if (this.replay.statuses.get(member) === 'cancelled') continue;
      const edges = this.#world.rows<{ blocked_by: string }>(
        'select blocked_by from task_dependencies where task_id = ?',
        member,
      );
      for (const { blocked_by: blocker } of edges) {
        if (family.includes(blocker)) continue;
        if (this.replay.statuses.get(blocker) !== 'completed')
          this.#world.violate('base', `${id} is claimed while ${blocker} is not completed`);
        const sha = this.#completed.get(blocker) ?? null;
        if (sha !== null) commits.set(blocker, sha);
      }
    }
    this.#claims.set(id, { commits });
  }

  #agentStarting(request: AgentRequest, kind: AgentKind): void {
    const world = this.#world;
    this.replay.read();
    const [, root = '', attempt = ''] = request.runId.split('/');
    world.tell(`agent ${kind} starts on ${request.runId}${request.resume ? ' again' : ''}`);
    for (const command of world.commands.running) {
      if (command.request.cwd === request.cwd)
        world.violate('one-agent', `${root} starts while ${command.request.runId} still runs`);
    }
    for (const other of this.#atWork()) {
      if (other.request.runId.split('/')[1] === root)
        world.violate('one-agent', `a second agent starts on ${root} (${other.pid} still lives)`);
      if (other.request.cwd === request.cwd)
        world.violate('one-agent', `${request.cwd} has two agents`);
    }
    const [row] = world.rows<{ status: string; epoch: number }>(
      'select status, epoch from tasks where id = ?',
      root,
    );
    const part = partOf(request.taskId, request.attempt, row?.epoch ?? 0);
    if (this.#ended.has(part)) world.violate('run-again', `${part} has been at its end already`);
    if (row?.status === 'completed') world.violate('run-again', `${root} is completed`);
    else if (row?.status !== 'in_progress')
      world.violate('one-agent', `an agent starts on ${root}, which is ${row?.status}`);
    const [last] = world.rows<{ number: number; state: string }>(
      'select number, state from attempts where task_id = ? order by number desc limit 1',
      root,
    );
    if (last?.state !== 'running' || String(last.number) !== attempt)
      world.violate('one-agent', `attempt ${attempt} of ${root} is not the running one`);
    this.#checkWorkers();
    this.#checkBase(root, request);
  }

  #commandStarting(cwd: string, runId: string): void {
    for (const { request } of this.#world.commands.running) {
      if (request.cwd === cwd)
        this.#world.violate('one-agent', `${runId} and ${request.runId} run in ${cwd} at once`);
    }
    if (this.#atWork().some((agent) => agent.request.cwd === cwd))
      this.#world.violate('one-agent', `${runId} runs under an agent in ${cwd}`);
  }

  /** A held process has no prompt, and gets none once the claim is lost. */
  #atWork(): readonly SimulatedAgent[] {
    return this.#world.agents.live().filter(({ state }) => state !== 'held');
  }

  #checkWorkers(): void {
    const [row] = this.#world.rows<{ most: number }>('select max(workers) as most from runs');
    const live = this.#atWork().length + 1;
    if (live > (row?.most ?? 0))
      this.#world.violate('bounds', `${live} agents at work, ${row?.most} allowed`);
  }

  #checkBase(root: string, request: AgentRequest): void {
    const { repository } = this.#world;
    const worktree = repository.worktrees.get(request.cwd);
    if (worktree === undefined || request.cwd === repository.root)
      return this.#world.violate('not-ours', `an agent starts in ${request.cwd}`);
    const head = repository.headOf(worktree);
    if (head === null) return this.#world.violate('base', `${request.cwd} has no commit`);
    if (worktree.branch !== null && !worktree.branch.startsWith(`refs/heads/drover/${root}/`))
      this.#world.violate('one-agent', `${root} works on ${worktree.branch}`);
    for (const [blocker, sha] of this.#claims.get(root)?.commits ?? []) {
      // A blocker that was reset after the claim may have landed again before the base was chosen.
      const again = this.#completed.get(blocker) ?? sha;
      const isThere = [sha, again].some((each) => repository.objects.isAncestor(each, head));
      if (!isThere && !this.#isThereAgain(sha, head))
        this.#world.violate('base', `${root} starts without ${blocker}'s commit ${sha}`);
    }
  }

  /**
   * If a person rewinds, Drover lands the same work again, under another commit, or as nothing if
   * their own commits already contain its change. A person who cherry-picks it, as Drover
   * recommended, may have resolved a conflict in the process.
   */
  #isThereAgain(sha: Sha, head: Sha): boolean {
    const { repository, scenario } = this.#world;
    if (!scenario.personRewinds) return false;
    const { objects } = repository;
    const landed = objects.commit(sha);
    const isAgain = (commit: SimulatedCommit): boolean =>
      commit.subject === landed.subject &&
      ['Drover-Task', 'Drover-Attempt'].every((key) => {
        const mark = trailer(landed, key);
        return mark !== null && trailer(commit, key) === mark;
      });
    if ([...objects.ancestors(head)].some((each) => isAgain(objects.commit(each)))) return true;
    const { files, conflicts } = objects.mergeFiles(head, sha, landed.parents[0] ?? null);
    return conflicts.length === 0 && changedBetween(objects.filesOf(head), files).length === 0;
  }

  /**
   * Nothing on a line leaves it except through a person's decision, and then it is kept elsewhere.
   */
  #checkLine({ ref, old, next, reason }: RefMove): void {
    const { objects, refs } = this.#world.repository;
    if (!ref.startsWith('refs/drover/land/') || old === null) return;
    if (next !== null && objects.isAncestor(old, next)) return;
    const isKept = [...refs].some(
      ([name, sha]) => name.startsWith('refs/drover/rescue/lines/') && objects.isAncestor(old, sha),
    );
    if (!isKept) this.#world.violate('landed-once', `${ref} loses ${old}: ${reason}`);
  }

  #refsMoved(moves: readonly RefMove[]): void {
    const mine = moves.filter((move) => move.by === 'drover');
    for (const move of mine) {
      this.#checkPlace(move);
      this.#checkLanding(move);
      this.#checkLine(move);
    }
    const { objects } = this.#world.repository;
    const lost = mine.filter(
      ({ old, next }) => old !== null && (next === null || !objects.isAncestor(old, next)),
    );
    if (lost.length > 0) this.#checkKept(lost);
  }

  #checkPlace({ ref, old, next, reason }: RefMove): void {
    if (ref.startsWith('refs/drover/') || ref.startsWith('refs/heads/drover/')) return;
    const { objects } = this.#world.repository;
    const targets = this.#world.rows<{ branch: string }>('select branch from lines');
    const followed = targets.some(({ branch }) => ref === `refs/heads/${branch}`);
    if (!followed || reason !== 'drover: follow')
      this.#world.violate('not-ours', `${ref} is moved: ${reason}`);
    if (old !== null && (next === null || !objects.isAncestor(old, next)))
      this.#world.violate('not-ours', `${ref} loses commits of the person`);
  }

  #checkKept(moves: readonly RefMove[]): void {
    const { repository } = this.#world;
    const reachable = repository.reachable();
    for (const worktree of repository.worktrees.values()) {
      const head = repository.headOf(worktree);
      if (head !== null) for (const sha of repository.objects.ancestors(head)) reachable.add(sha);
    }
    for (const { ref, old } of moves) {
      for (const sha of repository.objects.ancestors(old as Sha)) {
        if (reachable.has(sha) || !isWork(repository.objects.commit(sha))) continue;
        // A copy of landed work for a branch that people have rewritten is created again each time.
        const original = trailer(repository.objects.commit(sha), 'Drover-Was');
        if (original === null || !reachable.has(original as Sha))
          this.#world.violate('work-kept', `${sha} was on ${ref} and now is nowhere`);
      }
    }
  }

  #filesReplaced(path: string, before: Files, after: Files | null): void {
    const { repository, agents } = this.#world;
    if (path === repository.root) this.#world.violate('not-ours', 'the checkout is written to');
    const worker = agents.live().find((agent) => agent.request.cwd === path);
    if (worker !== undefined)
      this.#world.violate('one-agent', `${path} is taken from under agent ${worker.pid}`);
    const leaving = [...before].filter(
      ([file, content]) => agents.written.has(content) && after?.get(file) !== content,
    );
    if (leaving.length === 0) return;
    const reachable = [...repository.reachable()];
    for (const [file, content] of leaving) {
      if (!reachable.some((sha) => repository.objects.filesOf(sha).get(file) === content))
        this.#world.violate('work-kept', `${file} in ${path} is gone: ${content}`);
    }
  }

  /** The landed tree is exactly the tree that passed. */
  #checkLanding({ ref, old, next, reason }: RefMove): void {
    if (!ref.startsWith('refs/drover/land/') || !reason.startsWith('drover: land ')) return;
    const { objects } = this.#world.repository;
    if (next === null) return;
    const planned = [...objects.filesOf(next)].find(([, content]) => content.includes(planMark));
    if (planned !== undefined)
      this.#world.violate('plan-lands', `${planned[0]} on ${ref} was written while planning`);
    const tip = objects.commit(next);
    const line = objects.firstParents(next);
    const landed = line.slice(
      0,
      Math.max(
        0,
        line.findIndex(({ sha }) => sha === old),
      ),
    );
    const commands = new Set<string>();
    for (const commit of landed) {
      const command = this.#gateOf(commit);
      if (command !== null) commands.add(command);
    }
    for (const command of commands) {
      const { commands: looks } = this.#world;
      if (!looks.green.has(`${tip.tree} ${command}`) || !isGreen(command, objects.filesOf(next)))
        this.#world.violate('tested-tree', `${next} lands on ${ref} without a green ${command}`);
    }
  }

  #gateOf(commit: SimulatedCommit): string | null {
    const { gateCommand } = this.#world.settings;
    const task = trailer(commit, 'Drover-Task');
    if (task === null) return trailer(commit, 'Drover-Epic') === null ? null : gateCommand;
    const [row] = this.#world.rows<{ test_mode: string }>(
      'select test_mode from tasks where id = ?',
      task,
    );
    return row?.test_mode === 'disabled' ? null : gateCommand;
  }
}

/** One part of one claim, whose agent runs once to its end. */
function partOf(part: string, attempt: number, epoch: number): string {
  return `${part} attempt ${attempt} epoch ${epoch}`;
}

export function trailer(commit: SimulatedCommit, key: string): string | null {
  const line = commit.trailers.find((each) => each.startsWith(`${key}: `));
  return line === undefined ? null : line.slice(key.length + 2);
}

/** Made by an agent, or by Drover from an agent's leftovers. */
function isWork(commit: SimulatedCommit): boolean {
  if (commit.by === 'agent') return true;
  return commit.by === 'drover' && commit.parents.length < 2;
}
