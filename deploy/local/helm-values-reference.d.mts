export function helmValuesReference(): string;
