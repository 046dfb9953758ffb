// The requests that the database alone can answer, in the backend or in the command's own process.

import type { dataRequests, Handlers } from '../../protocol/api.ts';
import { fileHandlers } from './data-files.ts';
import { logHandlers } from './data-log.ts';
import { historyHandlers } from './data-history.ts';
import { inspectHandlers } from './data-inspect.ts';
import { panelDataHandlers } from './panel-data.ts';
import { agentReviewHandlers } from '../reviews/review-handlers.ts';
import { noteHandlers } from '../notes/note-handlers.ts';
import { planHandlers } from './data-plan.ts';
import { searchHandlers } from './data-search.ts';
import { workHandlers } from './data-work.ts';
import type { DataHandlerDeps } from './data-deps.ts';

export type DataRequestName = (typeof dataRequests)[number];

export function createDataHandlers(deps: DataHandlerDeps): Pick<Handlers, DataRequestName> {
  return {
    ...planHandlers(deps),
    ...inspectHandlers(deps),
    ...historyHandlers(deps),
    ...workHandlers(deps),
    ...logHandlers(deps),
    ...searchHandlers(deps),
    ...fileHandlers(deps),
    ...panelDataHandlers(deps),
    ...noteHandlers(deps),
    ...agentReviewHandlers(deps),
  };
}
