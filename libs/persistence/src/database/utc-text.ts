/** An expression of SQL for a time as the API writes it, also inside of JSON. */
export const utcText = (time: string): string => `to_char(${time} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
