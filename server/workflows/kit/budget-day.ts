// The day of a daily budget: the calendar day in the backend's time zone.

/** `YYYY-MM-DD`. */
export function budgetDay(nowMs: number): string {
  const now = new Date(nowMs);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
}

export function nextDayMs(nowMs: number): number {
  const now = new Date(nowMs);
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).getTime();
}
