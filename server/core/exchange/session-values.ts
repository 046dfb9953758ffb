// Reads values of a session file. Returns a value of the expected type, or absent.

import { isOneOf } from '../one-of.ts';

export function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function toTexts(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly unknown[]).filter((item) => typeof item === 'string');
}

export function toChoice<T extends string>(value: unknown, choices: readonly T[], otherwise: T): T {
  return isOneOf(choices, value) ? value : otherwise;
}

export function toNumber(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function blankToNull(value: string | null): string | null {
  return value === null || value.trim() === '' ? null : value;
}

export function toKnownWord<Word extends string>(
  words: readonly Word[],
  value: unknown,
): Word | null {
  return isOneOf(words, value) ? value : null;
}

export function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
