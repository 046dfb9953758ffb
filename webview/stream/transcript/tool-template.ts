// Template for a tool call: one line while it is folded; its edits, input and result when it is
// open.

import { html, nothing, type TemplateResult } from 'lit';
import { formatDuration } from '../../../server/core/format.ts';
import { codeLineTemplate } from '../../shared/text/code-template.ts';
import type { EntryActions, EntryLook } from './entry-view.ts';
import { moreButton, outputTemplate } from './cut-template.ts';
import { icon } from '../../shared/looks/icon.ts';
import { summaryTemplate } from './summary-template.ts';
import type { DiffLine } from '../../shared/text/line-diff.ts';
import { languageOfPath } from '../../shared/text/highlight.ts';
import { allLimits, ansiTemplate, cutText, foldedLimits } from '../../shared/text/text-template.ts';
import {
  editCounts,
  parseEdits,
  parseFilePath,
  inputText,
  insideWorktree,
  toolIcon,
  toolTitle,
} from '../../shared/log/tool-view.ts';
import type { EditView } from '../../shared/log/tool-view.ts';
import type { Entry, EntryBody } from '../../shared/log/transcript.ts';
import { visibleLine } from '../../shared/looks/visible-text.ts';
import { changedWords, type TextRange } from '../../shared/text/word-diff.ts';

type ToolBody = Extract<EntryBody, { kind: 'tool' }>;

const diffLinesMax = 24;

export function toolTemplate(
  entry: Entry,
  body: ToolBody,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const { name, about } = toolTitle(body.name, insideWorktree(body.title, look.worktree));
  const edits = parseEdits(body.name, body.input);
  return html`<div class="tool ${body.result?.isError === true ? 'failed' : ''}">
    ${summaryTemplate(
      entry,
      look,
      actions,
      html`${icon(toolIcon(body.name))} <span class="name" data-find>${name}</span>
        <span class="about mono" data-find>${about}</span>
        ${countsTemplate(edits)}${resultSign(entry, body)}`,
    )}
    ${look.isOpen ? insideTemplate(entry, body, edits, look, actions) : nothing}
  </div>`;
}

function countsTemplate(edits: readonly EditView[]): TemplateResult | typeof nothing {
  if (edits.length === 0) return nothing;
  const { added, removed } = editCounts(edits);
  return html`<span class="counts"
    ><span class="added">+${added}</span> <span class="removed">−${removed}</span></span
  >`;
}

function resultSign(entry: Entry, body: ToolBody): TemplateResult {
  if (body.result === null) {
    return html`<span class="outcome"
      >${icon('loading', 'spins')}<span class="hidden">running</span></span
    >`;
  }
  const ms = body.result.atMs - entry.atMs - body.result.waitedMs;
  const time = ms < 1_000 ? '' : formatDuration(ms);
  return body.result.isError
    ? html`<span class="outcome bad"
        >${time} ${icon('error')}<span class="hidden">failed</span></span
      >`
    : html`<span class="outcome">${time} ${icon('check')}<span class="hidden">done</span></span>`;
}

function insideTemplate(
  entry: Entry,
  body: ToolBody,
  edits: readonly EditView[],
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const path = parseFilePath(body.input);
  const limits = look.showsAll ? allLimits : foldedLimits;
  const input = cutText(inputText(body.name, body.input), limits);
  const text = body.result?.text ?? '';
  // The result of a successful edit is always the same sentence.
  const hidesResult = edits.length > 0 && body.result?.isError === false;
  return html`<div class="inside">
    ${
      path === null
        ? nothing
        : html`<button
            class="link"
            type="button"
            tabindex=${look.isActive ? 0 : -1}
            @click=${() => actions.openFile({ path, line: null })}
          >
            ${icon('go-to-file')} ${visibleLine(insideWorktree(path, look.worktree))}
          </button>`
    }
    ${
      edits.length > 0
        ? edits.map((edit) => diffTemplate(entry, edit, look, actions))
        : html`<pre class="code" data-find>${ansiTemplate(input.text, true)}</pre>
            ${moreButton(entry, input.rest, look, actions)}`
    }
    ${text === '' || hidesResult ? nothing : outputTemplate(entry, text, look, actions)}
  </div>`;
}

function diffTemplate(
  entry: Entry,
  edit: EditView,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const shown = edit.lines.slice(0, look.showsAll ? allLimits.lines : diffLinesMax);
  const hidden = edit.lines.length - shown.length;
  const words = changedWords(shown);
  const language = languageOfPath(edit.path);
  return html`<div class="diff mono" role="group" aria-label="Change">
      ${shown.map((line) => diffLine(line, language, words.get(line) ?? []))}
    </div>
    ${moreButton(entry, hidden > 0 ? `${hidden} more lines` : '', look, actions)}`;
}

const signs = { same: ' ', added: '+', removed: '−' } as const;

function diffLine(line: DiffLine, language: string, changed: readonly TextRange[]): TemplateResult {
  const cut = cutText(line.text, foldedLimits);
  return html`<div class="diff-line ${line.kind}">
    <span class="diff-sign">${signs[line.kind]}</span
    ><span class="diff-text" data-find>${codeLineTemplate(cut.text, language, changed)}</span>
  </div>`;
}
