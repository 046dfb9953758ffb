// Explains which other work a running task conflicts with, as far as known before either has
// landed.

import type { Db } from '../rows/one-moment.ts';
import { forecastViews } from '../plan/forecasts.ts';

const filesMax = 3;

export async function whyForecast(db: Db, id: string): Promise<readonly string[]> {
  const views = (await forecastViews(db, id)).get(id) ?? [];
  return views.flatMap(({ other, level, files }) => {
    if (level !== 'conflict') return [];
    const named = files.slice(0, filesMax).join(', ');
    const more = files.length > filesMax ? ` and ${files.length - filesMax} more` : '';
    if (other === null) {
      return [
        `Work that has landed since it started changes the same lines of ${named}${more}, which git cannot merge; its next attempt starts from both.`,
      ];
    }
    return [
      `${id} and ${other} change the same lines of ${named}${more}, which git cannot merge: the one that lands second has to do that part again. Run "drover pause ${id} --until ${other}" to let ${id} wait instead.`,
    ];
  });
}
