// `npm run docs`: writes the generated parts of the documents.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTable } from './agents-table.ts';
import { clickhouseTableText, traceDashboardText } from './clickhouse.ts';
import { collectorText } from './collector.ts';
import { withConfinedAgents } from './confined-agents.ts';
import { withForgeRights } from './forge-rights.ts';
import { withConformance } from './conformance-table.ts';
import { withRefusals } from './refusals-table.ts';
import { requestsPage } from './requests-page.ts';
import { settingsSchemaText } from './settings-schema.ts';
import { withSettings } from './settings-table.ts';
import { dashboardText, withTelemetry } from './telemetry.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');

function rewrite(name: string, change: (page: string) => string): void {
  const file = join(docs, name);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

rewrite('agents.md', withTable);
rewrite('isolation.md', withConfinedAgents);
const forge = join(docs, 'forge.md');
// The fake GitHub needs GitHub's published API descriptions.
execFileSync(process.execPath, [join(docs, '..', 'test', 'forge', 'schemas', 'install.mjs')]);
writeFileSync(forge, await withForgeRights(readFileSync(forge, 'utf8')));
rewrite('refusals.md', withRefusals);
rewrite('settings.md', withSettings);
rewrite('telemetry.md', withTelemetry);
rewrite('worker-runtime.md', withConformance);
writeFileSync(join(docs, 'requests.md'), requestsPage());
const telemetryFiles = {
  'grafana-prometheus.json': dashboardText(),
  'grafana-clickhouse.json': traceDashboardText(),
  'clickhouse.sql': clickhouseTableText(),
  'collector.yaml': collectorText(),
};
for (const [name, text] of Object.entries(telemetryFiles))
  writeFileSync(join(docs, 'telemetry', name), text);
writeFileSync(join(docs, '..', 'media', 'drover.schema.json'), settingsSchemaText());
