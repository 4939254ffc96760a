/**
 * Why a value was rejected, in the terms of pydantic v2, whose format the interface's validation errors follow.
 *
 * A schema with its own error carries it as an annotation. Errors that all schemas share, such as a missing field or a wrong
 * type, are added where the router translates issues.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"

export interface Violation {
  /** pydantic's error type, `string_too_short` for example. */
  readonly type: string
  readonly msg: string
  readonly ctx?: Readonly<Record<string, unknown>>
}

/** The annotation key of the violation on a schema, a filter or an issue. */
export const annotationKey = "tachograph/violation"

/** Annotates a schema with the violation to report when a value is not of its type. */
export const annotate =
  (violation: Violation) =>
  <S extends Schema.Top>(schema: S): S["Rebuild"] =>
    schema.annotate({ [annotationKey]: violation })

/** A check that fails with the violation that `find` returns, if any. */
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

/**
 * A rule without a pydantic error type, in the form that pydantic uses for a ValueError raised by a validator. The error itself is
 * for callers in process: as JSON it is `{}`, as in FastAPI.
 */
export const valueError = (message: string): Violation => ({
  type: "value_error",
  msg: `Value error, ${message}`,
  ctx: { error: new Error(message) }
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
