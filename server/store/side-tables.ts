// Tables beside the plan's own.

import type { RepositoryTable } from './repository-rows.ts';
import type { WebhookTables } from './webhook-rows.ts';

export interface SideTables extends WebhookTables {
  repository: RepositoryTable;
}
