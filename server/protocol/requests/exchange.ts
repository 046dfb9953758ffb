// Requests that import and export plans: files, and plans made from designs or issues.

import type { IssuePlanView, SpecPlanView } from '../spec-plan.ts';
import type { ImportResultView } from '../views.ts';
import {
  flag,
  integer,
  boundedList,
  oneOf,
  optional,
  text,
  texts,
  boundedText,
  textsByName,
} from './fields.ts';

/** The protocol's limit, because a file is sent as one string. */
const fileText = boundedText(40 * 1024 * 1024);
const badLinesMax = 1_000_000;
const idsMax = 2_000;

export const exchangeShapes = {
  import: {
    /** The file's text. Bytes that are not UTF-8 are reported by line. */
    text: fileText,
    file: boundedText(4_096),
    format: oneOf(['auto', 'session', 'jsonl', 'beads']),
    bad_utf8_lines: boundedList(integer(1), badLinesMax),
    dry_run: optional(flag),
    update: optional(flag),
    rename: optional(flag),
    skip_invalid: optional(flag),
    /**
     * For a Beads file: its text at the last sync, when both sides were equal. Only differences
     * from it are imported.
     */
    base: optional(fileText),
  },
  export: {
    format: oneOf(['session', 'json', 'yaml', 'beads', 'jsonl']),
    /**
     * For `beads`: the current file. Other tools also write to it, and their parts are preserved.
     */
    present: optional(fileText),
    /** Set by a sync: canceled tasks get no new line, and the lines of these IDs stay unchanged. */
    leave: optional(boundedList(boundedText(64), idsMax)),
  },
  /**
   * Makes a plan from design texts (by name) without writing it; `import` accepts its `jsonl`. One
   * at a time.
   */
  'spec.plan': { documents: textsByName, model: optional(text) },
  /**
   * Makes a plan from issues of the project's forge without writing it; `import` with `update`
   * accepts its `jsonl`. `words`: numbers, `label:<name>`, `milestone:<title>`, or search words.
   */
  'issues.plan': {
    words: texts,
    /** `owner/name`; by default, that of the remote `origin`. */
    repo: optional(text),
    /** Variables with a token, as GitHub's CLI reads them. */
    env: optional(textsByName),
  },
  /** Cancels the current planning request, which is then refused. */
  'spec.cancel': {},
};

export interface ExchangeAnswers {
  import: ImportResultView;
  export: {
    text: string;
    /** With `present`: ids of records that are newer there and were left unchanged. */
    kept?: readonly string[];
  };
  'spec.plan': SpecPlanView;
  'issues.plan': IssuePlanView;
  'spec.cancel': { cancelled: boolean };
}
