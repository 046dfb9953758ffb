// Notes for people about a job: the uploaded files, the omitted ones, and the returned ones.

import { formatBytes, formatCount } from '../../core/format.ts';
import type { Imported } from './import-result.ts';
import { toSingleLine } from './request.ts';
import type { UploadPlan } from './upload-plan.ts';

type Note = (text: string) => void;

export function tellPlan(note: Note, plan: UploadPlan): void {
  note(`Uploading ${formatCount(plan.files, 'file')} (${formatBytes(plan.bytes)}).`);
  const secrets = plan.excludedSecrets;
  if (secrets.length > 0) {
    const named = secrets.slice(0, 10).join(', ');
    const more = secrets.length > 10 ? ` and ${secrets.length - 10} more` : '';
    note(`Not uploaded, because the names look like secrets: ${named}${more}.`);
  }
  for (const notice of plan.notices.slice(0, 20)) note(notice);
}

export function tellImport(note: Note, imported: Imported): void {
  const { written, removed } = imported;
  note(`Result fetched: ${written} written, ${removed} removed.`);
  for (const notice of imported.notices.slice(0, 20)) note(toSingleLine(notice, 2_000));
}
