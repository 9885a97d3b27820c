export function helmValuesDefaults(): string;
export function helmValuesReference(): string;
export function helmValuesSchema(): string;
