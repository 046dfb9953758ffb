// One entry of the transcript as a template.

import { html, nothing, type TemplateResult } from 'lit';
import { clockText } from '../../shared/log/attempt-facts.ts';
import { moreButton, outputTemplate } from './cut-template.ts';
import {
  exitText,
  hintState,
  questionEnd,
  retryText,
  startedText,
} from '../../shared/log/entry-text.ts';
import type { EntryActions, EntryLook } from './entry-view.ts';
import { icon, type IconName } from '../../shared/looks/icon.ts';
import { iconButton } from '../../shared/looks/icon-button.ts';
import { proseTemplate, type ProseOptions } from '../../shared/text/prose-template.ts';
import {
  allLimits,
  cutText,
  plainTemplate,
  type TextLimits,
} from '../../shared/text/text-template.ts';
import { summaryTemplate } from './summary-template.ts';
import { toolTemplate } from './tool-template.ts';
import type { Entry, EntryBody } from '../../shared/log/transcript.ts';
import { visibleLine } from '../../shared/looks/visible-text.ts';

/** A placeholder for a prompt that is not read yet. */
const unread = 'Reading…';

type Body<K extends EntryBody['kind']> = Extract<EntryBody, { kind: K }>;

export function entryTemplate(
  entry: Entry,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  return html`${bodyTemplate(entry, look, actions)}
    <div class="aside">
      <span class="time">${clockText(entry.atMs)}</span>
      ${iconButton('copy', 'Copy', () => actions.copy(entry), { tabIndex: look.isActive ? 0 : -1 })}
    </div>`;
}

function bodyTemplate(entry: Entry, look: EntryLook, actions: EntryActions): TemplateResult {
  const { body } = entry;
  switch (body.kind) {
    case 'started':
      return lineTemplate(body.resumed ? 'debug-continue' : 'play', startedText(body), 'faint');
    case 'exit': {
      const isBad = body.stopped !== true && (body.signal !== null || (body.code ?? 0) !== 0);
      return lineTemplate(
        look.isPaused ? 'debug-pause' : 'debug-stop',
        exitText(body, look.isPaused),
        isBad ? 'bad' : 'faint',
      );
    }
    case 'message':
      return html`<div class="message prose">${cutProse(entry, body.text, look, actions)}</div>`;
    case 'thinking':
      return foldedTemplate(
        entry,
        { name: 'Thinking', icon: 'lightbulb', text: body.text },
        look,
        actions,
      );
    case 'prompt':
      return foldedTemplate(
        entry,
        { name: 'Prompt', icon: 'account', text: body.text ?? (look.isOpen ? unread : '') },
        look,
        actions,
      );
    case 'tool':
      return toolTemplate(entry, body, look, actions);
    case 'result':
      return html`<div class="tool">
        <div class="caption">${icon('reply')} Result of an earlier call</div>
        ${outputTemplate(entry, body.result.text, look, actions)}
      </div>`;
    case 'output':
      return html`<div class="lines ${isOwnNote(body.lines) ? 'note' : body.stream}">
        ${outputTemplate(entry, body.lines.join('\n'), look, actions)}
      </div>`;
    case 'retry':
      return lineTemplate('sync', retryText(body), 'warn');
    case 'question':
      return look.isOpen
        ? questionTemplate(entry, body, look, actions)
        : endedQuestionTemplate(entry, body, look, actions);
    case 'hint':
      return html`<div class="hint">
        <div class="bubble">
          <div class="pre" data-find>${plainTemplate(body.text)}</div>
          <div class="state">${hintState(body)}</div>
        </div>
      </div>`;
    case 'note':
      return lineTemplate(
        body.level === 'warning' ? 'warning' : 'info',
        body.text,
        body.level === 'warning' ? 'warn' : 'faint',
      );
  }
}

function lineTemplate(iconName: IconName, text: string, tone: string): TemplateResult {
  return html`<div class="line ${tone}">
    ${icon(iconName)}<span class="pre" data-find>${plainTemplate(text)}</span>
  </div>`;
}

const proseLimits: TextLimits = { lines: 400, lineChars: 20_000 };

function cutProse(
  entry: Entry,
  text: string,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const cut = cutText(text, look.showsAll ? allLimits : proseLimits);
  const options: ProseOptions = {
    openFile: (file) => actions.openFile(file),
    isActive: look.isActive,
  };
  return html`${proseTemplate(cut.text, options)}${moreButton(entry, cut.rest, look, actions)}`;
}

function foldedTemplate(
  entry: Entry,
  folded: { readonly name: string; readonly icon: IconName; readonly text: string },
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const { name, text } = folded;
  return html`<div class="thinking">
    ${summaryTemplate(
      entry,
      look,
      actions,
      html`${icon(folded.icon)}
        <span class="name">${name}</span>
        ${look.isOpen ? nothing : html`<span class="about">${visibleLine(text.slice(0, 300))}</span>`}`,
    )}
    ${
      look.isOpen
        ? html`<div class="inside">
            <div class="prose">${cutProse(entry, text, look, actions)}</div>
          </div>`
        : nothing
    }
  </div>`;
}

/** A question and its answer in one line. */
function endedQuestionTemplate(
  entry: Entry,
  body: Body<'question'>,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  return questionSummary(
    entry,
    body,
    look,
    actions,
    html`<span class="about" data-find>${visibleLine(body.text.slice(0, 300))}</span>
      <span class="outcome">${questionEnd(body)}</span>`,
  );
}

/** The row that opens and closes an answered question; `more` follows its name. */
function questionSummary(
  entry: Entry,
  body: Body<'question'>,
  look: EntryLook,
  actions: EntryActions,
  more: unknown,
): TemplateResult {
  const { glyph, name } = questionLook(body);
  return summaryTemplate(
    entry,
    look,
    actions,
    html`${glyph} <span class="name">${name}</span> ${more}`,
  );
}

function questionLook({ asks }: Body<'question'>): { glyph: TemplateResult; name: string } {
  return asks === 'permission'
    ? { glyph: icon('shield'), name: 'Permission' }
    : { glyph: icon('question'), name: 'Question' };
}

function questionTemplate(
  entry: Entry,
  body: Body<'question'>,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const end = questionEnd(body);
  const { question } = look;
  const { glyph, name } = questionLook(body);
  return html`<div class="question ${question === null ? '' : 'open'}">
    ${
      body.state === 'open'
        ? html`<div class="caption">${glyph} ${name}</div>`
        : questionSummary(entry, body, look, actions, null)
    }
    <div class="pre mono" data-find>${plainTemplate(body.text)}</div>
    ${
      question === null
        ? html`<div class="end">${end === '' ? 'No longer open.' : end}</div>`
        : html`<drover-answer
            .question=${question}
            .isBusy=${look.isAnswering}
            @answer=${(event: CustomEvent<string>) => actions.answer(question, event.detail)}
          ></drover-answer>`
    }
  </div>`;
}

/** Drover's progress messages about a remote attempt use stderr, but are not errors. */
function isOwnNote(lines: readonly string[]): boolean {
  return lines.every((line) => line.startsWith('drover: '));
}
