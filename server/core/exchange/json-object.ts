// An object as it stands in a file: nothing is known of its values yet.

export type JsonObject = Readonly<Record<string, unknown>>;
