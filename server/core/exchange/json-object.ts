// An object as read from a file: its values are not checked yet.

export type JsonObject = Readonly<Record<string, unknown>>;
