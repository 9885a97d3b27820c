export const podSettings: Readonly<Record<string, unknown>>;
