// What has happened: reports, and the state at an earlier moment.

import { agentChoices } from '../../core/settings/agent-settings.ts';
import { Refusal } from '../../core/failure.ts';
import { droverVersion } from '../../protocol/version.ts';
import type { Handlers } from '../../protocol/api.ts';
import type { Past, PastMoment } from '../../store/history/past.ts';
import { readSnapshot } from '../../store/board/snapshot.ts';
import { why } from '../../store/why/why.ts';
import { given, idOf, optionalInteger, optionalText, recordOf } from './params.ts';
import { newestRun, readLine } from '../../store/port.ts';
import type { DataHandlerDeps } from './data-deps.ts';

type HistoryRequests =
  | 'report'
  | 'runs.list'
  | 'past.status'
  | 'past.why'
  | 'trace.export'
  | 'metrics';

/** Loaded by who asks for it. */
const loadHistory = async () => await import('../../store/history/read-history.ts');

const runsAtOnce = 200;
const runsMax = 5_000;
const searchCharsMax = 200;

export function historyHandlers(deps: DataHandlerDeps): Pick<Handlers, HistoryRequests> {
  const { store } = deps;
  const inPast = async <T>(params: unknown, body: (past: Past) => Promise<T>): Promise<T> => {
    const { openPast } = await import('../../store/history/past.ts');
    const past = await openPast(store.db, momentOf(recordOf(params)));
    try {
      return await body(past);
    } finally {
      await past.close();
    }
  };
  return {
    report: async (params) => {
      const { readReport } = await loadHistory();
      return readReport(store.db, idOf(recordOf(params)['id']), store.sources.clock.now());
    },
    'runs.list': async (params) => {
      const { search, limit } = recordOf(params);
      const bounds = { min: 1, max: runsMax };
      const { readRuns } = await loadHistory();
      return readRuns(store.db, {
        search: (optionalText(search, 'search') ?? '').slice(0, searchCharsMax),
        max: optionalInteger(limit, 'limit', bounds) ?? runsAtOnce,
        nowMs: store.sources.clock.now(),
      });
    },
    'trace.export': async (params) => {
      const id = idOf(recordOf(params)['id']);
      const { otlpTrace } = await import('../../core/history/otlp.ts');
      const { readTrace } = await loadHistory();
      return otlpTrace(await readTrace(store.db, id, store.sources.clock.now()), droverVersion);
    },
    metrics: async () => {
      const { readMetrics } = await loadHistory();
      return { text: await readMetrics(store.db, store.sources.clock.now()) };
    },
    'past.status': async (params) => {
      const epic = optionalText(recordOf(params)['epic'], 'epic')?.trim();
      return inPast(params, async ({ db, atMs }) => {
        const snapshot = await readSnapshot(db, given({ epic }), {
          config: deps.config(),
          targetBranch: deps.settings().land.target ?? deps.git.facts.headBranch,
          // What the branch held then, as far as Drover saw it.
          shaOf: async (branch) => (await readLine(db, branch))?.followed_sha ?? null,
        });
        return { ...snapshot, at_ms: atMs };
      });
    },
    'past.why': async (params) => {
      const id = idOf(recordOf(params)['id']);
      const { agent, agents } = deps.settings();
      return inPast(params, async ({ db, atMs }) => {
        const facts = {
          nowMs: atMs,
          agentKind: agent.kind,
          agents: agentChoices(agent, agents),
          hasBackend: (await newestRun(db))?.state === 'active',
        };
        return { id, reasons: await why(db, id, facts) };
      });
    },
  };
}

function momentOf(params: Readonly<Record<string, unknown>>): PastMoment {
  const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
  const seq = optionalInteger(params['seq'], 'seq', bounds);
  const atMs = optionalInteger(params['at_ms'], 'at_ms', bounds);
  if (seq !== undefined && atMs === undefined) return { seq };
  if (atMs !== undefined && seq === undefined) return { atMs };
  throw new Refusal('bad_request', 'Give either "seq" or "at_ms".');
}
