// The results of a search in transcripts: a row for each attempt, which opens its stream at that
// position.

import { html, nothing, type TemplateResult } from 'lit';
import { formatCount } from '../../server/core/format.ts';
import type { TranscriptHit } from '../../server/core/history/transcript-search.ts';
import { searchWords } from '../../server/core/history/search-words.ts';
import { icon } from '../shared/looks/icon.ts';
import { shortLine, timeWords } from './run-words.ts';
import type { TranscriptReader } from './transcript-reader.ts';

const typeWords: Readonly<Record<string, string>> = {
  text: 'Agent says',
  thinking: 'Thinking',
  tool_call: 'Tool',
  tool_result: 'Tool result',
  output: 'Output',
  retry: 'Retry',
  question: 'Question',
  answered: 'Answer',
  hint: 'You',
  note: 'Note',
};

export function foundTemplate(
  reader: TranscriptReader,
  open: (hit: TranscriptHit) => void,
): TemplateResult | typeof nothing {
  if (reader.words.trim() === '') return nothing;
  const words = searchWords(reader.words);
  return html`<section aria-labelledby="title-found" class="found">
    <h2 id="title-found">In transcripts</h2>
    <p role="status">${stateLine(reader)}</p>
    ${
      reader.hits.length === 0
        ? nothing
        : html`<table>
            <thead>
              <tr>
                <th>Task</th>
                <th>When</th>
                <th>What</th>
                <th>Where it was found</th>
              </tr>
            </thead>
            <tbody>
              ${reader.hits.map((hit) => rowTemplate(hit, words, open))}
            </tbody>
          </table>`
    }
    ${
      reader.left === 0 || reader.isSearching
        ? nothing
        : html`<button type="button" class="link" @click=${() => reader.more()}>
            Search older transcripts (${reader.left} left)
          </button>`
    }
  </section>`;
}

function stateLine(reader: TranscriptReader): TemplateResult | string {
  const { hits, searched, attempts, isSearching, failed } = reader;
  if (failed !== '') return html`${icon('error')} <bdi>${shortLine(failed)}</bdi>`;
  if (isSearching && hits.length === 0) return 'Searching …';
  const found = hits.length === 0 ? 'Nothing' : formatCount(hits.length, 'attempt');
  const where =
    searched >= attempts
      ? formatCount(searched, 'attempt')
      : `the newest ${searched} of ${attempts} attempts`;
  return `${found} found in the transcripts of ${where}.`;
}

function rowTemplate(
  hit: TranscriptHit,
  words: readonly string[],
  open: (hit: TranscriptHit) => void,
): TemplateResult {
  const name = `${shortLine(hit.title)} (${hit.attempt})`;
  return html`<tr>
    <td>
      <button type="button" class="link" title="Open the stream here" @click=${() => open(hit)}>
        <bdi>${name}</bdi>
      </button>
    </td>
    <td class="when">${hit.at_ms === 0 ? nothing : timeWords(hit.at_ms)}</td>
    <td>${typeWords[hit.type] ?? shortLine(hit.type)}</td>
    <td><bdi>${marked(shortLine(hit.text), words)}</bdi></td>
  </tr>`;
}

/** The text with each search term marked. */
function marked(text: string, words: readonly string[]): readonly (TemplateResult | string)[] {
  const lower = text.toLowerCase();
  const parts: (TemplateResult | string)[] = [];
  for (let at = 0; at < text.length;) {
    const next = nextWord(lower, words, at);
    const from = next?.from ?? text.length;
    if (from > at) parts.push(text.slice(at, from));
    if (next === null) break;
    parts.push(html`<mark>${text.slice(from, from + next.length)}</mark>`);
    at = from + next.length;
  }
  return parts;
}

function nextWord(
  lower: string,
  words: readonly string[],
  at: number,
): { readonly from: number; readonly length: number } | null {
  const places = words
    .map((word) => ({ from: lower.indexOf(word, at), length: word.length }))
    .filter(({ from }) => from >= 0)
    .sort((a, b) => a.from - b.from || b.length - a.length);
  return places[0] ?? null;
}
