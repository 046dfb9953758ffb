// The lines that Claude Code prints and reads (stream-json with the control protocol), as loose
// JSON: fields come and go between versions, so everything is looked up and nothing is assumed.

export type Json = Readonly<Record<string, unknown>>;

/** One line as an object with a type, or null when it is something else. */
export function parseLine(line: string): Json | null {
  try {
    const value = asObject(JSON.parse(line));
    return value !== null && typeof value['type'] === 'string' ? value : null;
  } catch {
    return null;
  }
}

export function asObject(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Json)
    : null;
}

export function objectAt(from: Json, name: string): Json {
  return asObject(from[name]) ?? {};
}

export function objectsAt(from: Json, name: string): readonly Json[] {
  const value = from[name];
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: unknown) => {
    const found = asObject(one);
    return found === null ? [] : [found];
  });
}

export function textAt(from: Json, name: string): string | null {
  const value = from[name];
  return typeof value === 'string' ? value : null;
}

export function numberAt(from: Json, name: string): number | null {
  const value = from[name];
  return typeof value === 'number' ? value : null;
}

/** A message for the conversation; its uuid comes back in `command_lifecycle`. */
export function userMessage(uuid: string, content: string): Json {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    session_id: '',
    uuid,
    priority: 'next',
  };
}

/** Ends the running turn; queued messages would start the next one at once, so they go too. */
export function interrupt(requestId: string): Json {
  return {
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'interrupt', cancel_queued: true },
  };
}

export function controlSuccess(requestId: string, response: Json): Json {
  return {
    type: 'control_response',
    response: { subtype: 'success', request_id: requestId, response },
  };
}

export function controlError(requestId: string, error: string): Json {
  return {
    type: 'control_response',
    response: {
      subtype: 'error',
      request_id: requestId,
      error,
      error_code: 'unsupported_request',
    },
  };
}
