// Formats durations, money, bars and times of day for narrow columns.

import { formatCost } from '../../core/format.ts';

/** `4s`, `2m 05s`, `1h 02m`, `3d 04h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const two = (value: number): string => String(value).padStart(2, '0');
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)}h ${two(Math.floor(whole / 60) % 60)}m`;
  return `${Math.floor(whole / 86_400)}d ${two(Math.floor(whole / 3600) % 24)}h`;
}

/** `$0.42`; empty for zero, so that a column does not fill with zeros. */
export function costText(dollars: number): string {
  return dollars > 0 ? formatCost(dollars) : '';
}

export function progressBar(percent: number, width: number): string {
  const share = Math.min(100, Math.max(0, percent)) / 100;
  const full = Math.floor(share * width);
  return `${'█'.repeat(full)}${'░'.repeat(width - full)}`;
}

/** Local time of day. */
export function clockText(atMs: number): string {
  const at = new Date(atMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
