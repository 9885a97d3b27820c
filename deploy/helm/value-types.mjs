import { z } from 'zod';

/** A value with its default and what it says. */
export const withDefault = (schema, fallback, about) => schema.default(fallback).describe(about);
/** Values that belong together. */
export const group = (shape) => z.strictObject(shape).prefault({});

export const text = z.string();
export const filled = text.min(1);
export const port = z.int().min(1).max(65_535);
export const positive = z.int().min(1);
export const size = text.regex(/^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti)?$/);
/** An object of Kubernetes, taken as it is. */
export const fields = z.looseObject({});
export const listOfFields = z.array(fields);
export const texts = z.record(text, text);
export const variableName = text.regex(/^[A-Z][A-Z0-9_]*$/);
const variable = z.union([z.union([text, z.number(), z.boolean()]), z.strictObject({ valueFrom: fields })]);
export const amount = z.union([z.int(), text]);

const secretsElsewhere =
  'Secrets do not belong here: for one, give `valueFrom` with a `secretKeyRef`, as Kubernetes takes it.';
/** Variables of services, by name: a value, or where Kubernetes takes it from. */
export const variables = (about) => withDefault(z.record(variableName, variable), {}, `${about} ${secretsElsewhere}`);
/** The variables of one service. */
export const toVariables = (service) => variables(`More variables of ${service} (docs/configuration.md).`);
export const resources = (fallback) => withDefault(fields, fallback, 'Requests and limits, as Kubernetes takes them.');
