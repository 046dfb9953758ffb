// `npm run docs`: writes the parts of the documents that come from the code.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTable } from './agents-table.ts';
import { settingsSchemaText } from './settings-schema.ts';
import { withSettings } from './settings-table.ts';
import { dashboardText, withMetrics } from './telemetry.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

function rewrite(name: string, change: (page: string) => string): void {
  const file = join(docs, name);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

rewrite('agents.md', withTable);
rewrite('settings.md', withSettings);
rewrite('telemetry.md', withMetrics);
writeFileSync(join(docs, 'telemetry', 'grafana-prometheus.json'), dashboardText());
writeFileSync(join(docs, '..', 'media', 'drover.schema.json'), settingsSchemaText());
