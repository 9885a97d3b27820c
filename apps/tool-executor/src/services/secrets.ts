/** Keys of services. They must never be shown, so whatever a service answers is searched for them. */
export class Secrets {
  private readonly forms: readonly string[];

  constructor(values: readonly string[]) {
    const forms = values.flatMap((value) => [value, encodeURIComponent(value), Buffer.from(value).toString('base64')]);
    this.forms = [...new Set(forms)].filter((form) => form !== '').sort((one, other) => other.length - one.length);
  }

  redact(text: string): string {
    return this.forms.reduce((clean, form) => clean.replaceAll(form, '[redacted]'), text);
  }

  /** A JSON text as a value without secrets, also where the text writes them with escapes. Throws when it is no JSON. */
  parse(json: string): unknown {
    return JSON.parse(this.redact(JSON.stringify(JSON.parse(json))));
  }
}
