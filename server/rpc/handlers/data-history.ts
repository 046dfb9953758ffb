// Requests about the past: reports, and the state at an earlier time.

import { basename } from 'node:path';
import { agentChoices } from '../../core/settings/agent-settings.ts';
import { pickPlaceRules } from '../../core/settings/remote-settings.ts';
import { Refusal } from '../../core/failure.ts';
import { droverVersion } from '../../protocol/version.ts';
import type { Handlers } from '../../protocol/api.ts';
import type { PastMoment as GivenMoment } from '../../protocol/requests/board.ts';
import type { Past, PastMoment } from '../../store/history/past.ts';
import type { ToldStories } from '../../store/history/told-stories.ts';
import { readSnapshot } from '../../store/board/snapshot.ts';
import { why } from '../../store/why/why.ts';
import { newestRun, readLine, spentByScope } from '../../store/port.ts';
import { budgetDay } from '../../workflows/kit/budget-day.ts';
import type { DataHandlerDeps } from './data-deps.ts';

type HistoryRequests =
  | 'report'
  | 'runs.list'
  | 'spending'
  | 'past.status'
  | 'past.why'
  | 'trace.export'
  | 'metrics';

/** Loaded on demand. */
const loadHistory = async () => await import('../../store/history/read-history.ts');
const loadTold = async () => await import('../../store/history/told-stories.ts');

const runsAtOnce = 200;
const searchCharsMax = 200;

export function historyHandlers(deps: DataHandlerDeps): Pick<Handlers, HistoryRequests> {
  const { store } = deps;
  let kept: Promise<ToldStories> | null = null;
  const told = (): Promise<ToldStories> =>
    (kept ??= loadTold().then(({ ToldStories: Kept }) => new Kept()));
  const inPast = async <T>(moment: GivenMoment, body: (past: Past) => Promise<T>): Promise<T> => {
    const { openPast } = await import('../../store/history/past.ts');
    const past = await openPast(store.db, momentOf(moment));
    try {
      return await body(past);
    } finally {
      await past.close();
    }
  };
  return {
    report: async ({ id = null }) => {
      const { readReport } = await loadHistory();
      return readReport(store.db, { id, nowMs: store.sources.clock.now() }, await told());
    },
    'runs.list': async ({ search = '', limit = runsAtOnce }) => {
      const { readRuns } = await loadHistory();
      const nowMs = store.sources.clock.now();
      const request = { search: search.slice(0, searchCharsMax), max: limit, nowMs };
      return readRuns(store.db, request, await told());
    },
    spending: async () => {
      const day = budgetDay(store.sources.clock.now());
      const { usd } = await spentByScope(store.db, 'day', day);
      return { day, usd };
    },
    'trace.export': async ({ id }) => {
      const { otlpTrace } = await import('../../core/history/otlp.ts');
      const { readTrace } = await loadHistory();
      return otlpTrace(await readTrace(store.db, id, store.sources.clock.now()), droverVersion);
    },
    metrics: async ({ totals = false }) => metricsText(deps, totals, await told()),
    'past.status': async ({ epic, ...moment }) => {
      const scope = epic === undefined ? {} : { epic };
      return inPast(moment, async ({ db, atMs }) => {
        const snapshot = await readSnapshot(db, scope, {
          config: () => deps.config(),
          targetBranch: deps.settings().land.target ?? deps.git.facts.headBranch,
          // The branch's tip at that time, as far as Drover knew it.
          shaOf: async (branch) => (await readLine(db, branch))?.followed_sha ?? null,
        });
        return { ...snapshot, at_ms: atMs };
      });
    },
    'past.why': async ({ id, ...moment }) => {
      const settings = deps.settings();
      const { agent, agents } = settings;
      return inPast(moment, async ({ db, atMs }) => {
        const facts = {
          nowMs: atMs,
          agentKind: agent.kind,
          agents: agentChoices(agent, agents),
          gateNeeds: settings.gate.needs,
          hasBackend: (await newestRun(db))?.state === 'active',
          remote: pickPlaceRules(settings),
        };
        return { id, reasons: await why(db, id, facts) };
      });
    },
  };
}

async function metricsText(
  deps: DataHandlerDeps,
  isTotals: boolean,
  told: ToldStories,
): Promise<{ text: string }> {
  const { store, machineId } = deps;
  const { otherExporter } = await import('../../store/history/metrics-board.ts');
  const other = isTotals ? null : await otherExporter(store.db, machineId);
  if (other !== null) {
    const text = `# The machine "${plainName(other)}" exports the totals of this fleet. "drover metrics --totals" prints them here.\n`;
    return { text };
  }
  const project = deps.settings().otel.project ?? basename(deps.git.facts.root);
  const { readMetrics } = await loadHistory();
  const nowMs = store.sources.clock.now();
  return { text: await readMetrics(store.db, nowMs, { project, machineId }, told) };
}

function momentOf({ seq, at_ms: atMs }: GivenMoment): PastMoment {
  if (seq !== undefined && atMs === undefined) return { seq };
  if (atMs !== undefined && seq === undefined) return { atMs };
  throw new Refusal('bad_request', 'Give either "seq" or "at_ms".');
}

/** A line break in a name would end the comment. */
function plainName(name: string): string {
  return name.replaceAll(/[\r\n]+/g, ' ');
}
