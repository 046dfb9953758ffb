// Parses a JSONL file into a plan of writes, without writing anything. Reports all problems
// together, at most one per record.

import { sameContent, sameEpic } from './import-content.ts';
import { readRecord, type RecordFault, type RecordFields } from './import-record.ts';
import { shown } from './shown-values.ts';
import { checkReferences, parentReference, type ReadRecord } from './import-references.ts';
import { settleRecords } from './import-settle.ts';
import {
  type ExistingProject,
  type ImportOptions,
  type ImportPlan,
  type ImportProblem,
  importProblemsMax,
  type ImportWarning,
} from './import-types.ts';
import type { JsonObject } from './json-object.ts';

export { sameContent, sameEpic };

/** Longer lines are refused: they are not records, and parsing them could use up all memory. */
export const maxLineLength = 8 * 1024 * 1024;

/**
 * Splits a file into the lines that the import counts. Splits only at line feeds, because a record
 * may contain other line breaks.
 */
export function splitLines(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, '').split('\n');
}

export function parseImport(
  text: string,
  existing: ExistingProject,
  options: ImportOptions = {},
): ImportPlan {
  return parseImportLines(splitLines(text), existing, options);
}

export function parseImportLines(
  lines: readonly string[],
  existing: ExistingProject,
  options: ImportOptions = {},
): ImportPlan {
  const { records, problems, refusedLines } = readLines(lines, options);
  const faults = checkReferences({ records, refusedLines, existing });
  const good = records.filter((record) => !faults.has(record.line));
  for (const { line, fields } of records) {
    const fault = faults.get(line);
    if (fault !== undefined) problems.push({ line, id: fields.id, ...fault });
  }
  const settled = settleRecords(good, existing, options.onDiffers ?? 'refuse');
  problems.push(...settled.problems);
  const byLine = problems.toSorted((a, b) => a.line - b.line);
  return { ...settled.plan, problems: byLine, warnings: warningsOf(good, existing) };
}

interface ReadLines {
  readonly records: ReadRecord[];
  readonly problems: ImportProblem[];
  /** Ids of records on refused lines, with their line. */
  readonly refusedLines: Map<string, number>;
}

function readLines(lines: readonly string[], options: ImportOptions): ReadLines {
  const read: ReadLines = { records: [], problems: [], refusedLines: new Map() };
  const badUtf8 = new Set(options.badUtf8Lines);
  const usedOn = new Map<string, number>();
  const isUsed = (id: string): RecordFault | null => {
    const line = usedOn.get(id);
    if (line === undefined) return null;
    return { kind: 'id-twice', message: `the id ${shown(id)} is already used on line ${line}` };
  };
  for (const [index, raw] of lines.entries()) {
    if (read.problems.length > importProblemsMax) break;
    const line = index + 1;
    const text = raw.trim();
    if (text === '' || text.startsWith('#')) continue;
    const parsed = badUtf8.has(line) ? notUtf8 : parseLine(text);
    if ('kind' in parsed) {
      read.problems.push({ line, id: null, ...parsed });
      continue;
    }
    const id = typeof parsed.object['id'] === 'string' ? parsed.object['id'] : null;
    const fields = readRecord(parsed.object, isUsed);
    if (id !== null && !usedOn.has(id)) usedOn.set(id, line);
    if ('message' in fields) {
      read.problems.push({ line, id, ...fields });
      if (id !== null && !read.refusedLines.has(id)) read.refusedLines.set(id, line);
    } else {
      read.records.push({ line, fields });
    }
  }
  return read;
}

const notUtf8: RecordFault = { kind: 'json', message: 'the line is not UTF-8' };

/** A shorter line cannot be nested deeply enough to be costly to parse. */
const deepLineLength = 64 * 1024;
const levelsMax = 1_000;

/** Counts brackets inside strings too, because no real plan text leaves that many open. */
function isDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length && depth <= levelsMax; index++) {
    const code = text.charCodeAt(index);
    if (code === openBracket || code === openBrace) depth += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
  }
  return depth > levelsMax;
}

const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Parses one line, which must not be empty. */
export function parseLine(text: string): { readonly object: JsonObject } | RecordFault {
  if (text.length > maxLineLength) {
    return { kind: 'json', message: 'the line is longer than 8 MB' };
  }
  if (text.length > deepLineLength && isDeep(text)) {
    return { kind: 'json', message: 'not JSON of a record: too many levels of brackets' };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'json', message: jsonFault(text, error) };
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { object: value as JsonObject };
  }
  const what = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return { kind: 'object', message: `${what}, not an object` };
}

/**
 * Describes a fault in terms of the line that the user sees. The JSON parser's own messages differ
 * between engines.
 */
function jsonFault(text: string, error: unknown): string {
  let inText = false;
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (inText) {
      if (char === '\\') index += 1;
      else if (char === '"') inText = false;
    } else if (char === '"') inText = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') depth -= 1;
  }
  if (inText) return 'not JSON: the line ends inside a string';
  if (depth > 0) return 'not JSON: the line ends inside an object or a list';
  const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  return position === undefined ? 'not JSON' : `not JSON: fault at column ${Number(position) + 1}`;
}

function warningsOf(
  good: readonly ReadRecord[],
  existing: ExistingProject,
): readonly ImportWarning[] {
  const parents = new Map(good.map(({ fields }) => [fields.id, fields]));
  const foldedIds = new Map<string, string>();
  for (const id of existing.tasks.keys()) foldedIds.set(id.toLowerCase(), id);
  return good.flatMap(({ line, fields }) => {
    const warnings: ImportWarning[] = fields.warnings.map(({ key, message }) => {
      return { line, id: fields.id, key, message };
    });
    const other = foldedIds.get(fields.id.toLowerCase());
    if (other !== undefined && other !== fields.id) {
      const message = `the id differs from ${shown(other)} only in case; some file systems treat both as one name`;
      warnings.push({ line, id: fields.id, key: 'id', message });
    }
    foldedIds.set(fields.id.toLowerCase(), fields.id);
    const message = ignoredEpic(fields, parents, existing);
    if (message !== null) warnings.push({ line, id: fields.id, key: 'epic_id', message });
    return warnings;
  });
}

function ignoredEpic(
  fields: RecordFields,
  records: ReadonlyMap<string, RecordFields>,
  existing: ExistingProject,
): string | null {
  const parentId = parentReference(fields);
  if (parentId === null || fields.epicId === null) return null;
  const epicId = epicOf(fields, records, existing);
  return epicId === fields.epicId ? null : `a sub-task belongs to the epic of ${shown(parentId)}`;
}

function epicOf(
  fields: RecordFields,
  records: ReadonlyMap<string, RecordFields>,
  existing: ExistingProject,
): string | null {
  let at: RecordFields | undefined = fields;
  for (;;) {
    const parentId: string | null = parentReference(at);
    if (parentId === null) return at.epicId;
    at = records.get(parentId);
    if (at === undefined) return existing.tasks.get(parentId)?.epicId ?? null;
  }
}
