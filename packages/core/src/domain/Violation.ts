/**
 * Why a value was refused, in the vocabulary of pydantic v2, which the interface's validation errors speak.
 *
 * A schema that refuses in its own way says so itself, with the annotation `violation`; what all schemas share
 * (a missing field, a string that is none) is known where issues are translated, in the router.
 */
import { Schema, type SchemaAST, SchemaIssue } from "effect"

export interface Violation {
  /** pydantic's error type, `string_too_short` for example. */
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** The annotation under which a schema, a filter or an issue carries its violation. */
export const annotationKey = "tachograph/violation"

/** Annotates a schema with what is to be said when a value is not of its type. */
export const annotate =
  (violation: Violation) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    schema.annotate({ [annotationKey]: violation })

/** A check that answers with the violation that `find` finds, if it finds one. */
export const check = <T>(
  find: (value: T) => Violation | undefined,
  annotations?: Schema.Annotations.Filter
): SchemaAST.Filter<T> =>
  Schema.makeFilter<T>((value, _ast, options) => {
    const violation = find(value)
    return violation === undefined ? true : issue(violation, value, options)
  }, annotations)

export const issue = (violation: Violation, value: unknown, options: SchemaAST.ParseOptions) =>
  new SchemaIssue.InvalidValue({ message: violation.msg, [annotationKey]: violation }, value, options)

/** A rule of ours that pydantic has no type for, in the form that it gives to a validator's own error. */
export const valueError = (message: string): Violation => ({
  type: "value_error",
  msg: `Value error, ${message}`,
  ctx: { error: {} }
})

export const greaterThanEqual = (minimum: number): Violation => ({
  type: "greater_than_equal",
  msg: `Input should be greater than or equal to ${minimum}`,
  ctx: { ge: minimum }
})

export const lessThanEqual = (maximum: number): Violation => ({
  type: "less_than_equal",
  msg: `Input should be less than or equal to ${maximum}`,
  ctx: { le: maximum }
})
