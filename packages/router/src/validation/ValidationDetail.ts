/**
 * Turns the issues of a schema into the details that pydantic would have written. All rules are here: a schema or a check
 * that refuses in its own way carries its violation as an annotation (core, `domain/Violation`), and everything else
 * follows from the kind of schema that the value did not fit.
 */
import { type ErrorDetail, ValidationFailure } from "@tachograph/api"
import { annotationKey, type Violation } from "@tachograph/core/domain/Violation"
import { Effect, Schema, type SchemaAST, type SchemaIssue } from "effect"
import * as ErrorInput from "./ErrorInput.ts"

export type ErrorLocation = "path" | "query" | "header" | "body"

const missing: Violation = { type: "missing", msg: "Field required" }

export const missingBody: ErrorDetail = { ...missing, loc: ["body"], input: null }

/** Details in an answer at the most: a body could hold millions of errors, and nobody reads the thousandth. */
const maxDetails = 1_000

/** All that is wrong, in the order of the schema's fields. */
export const details = (issue: SchemaIssue.Issue, place: ErrorLocation, echo: ErrorInput.Echo) => {
  const found: Array<ErrorDetail> = []
  const add = (
    { ctx, msg, type }: Violation,
    path: ReadonlyArray<PropertyKey>,
    at: ReadonlyArray<PropertyKey> = path
  ) => {
    if (found.length >= maxDetails) return
    const input = echo(at)
    const loc = [place, ...path.map(String)]
    found.push(ctx === undefined ? { type, loc, msg, input } : { type, loc, msg, input, ctx })
  }
  const walk = (issue: SchemaIssue.Issue, path: ReadonlyArray<PropertyKey>): void => {
    switch (issue._tag) {
      case "Pointer":
        return walk(issue.issue, [...path, ...issue.path])
      case "Composite":
        return issue.issues.forEach((inner) => walk(inner, path))
      case "Filter":
      case "Encoding":
        return walk(issue.issue, path)
      case "AnyOf":
        // The members that the value's type rules out raise no issue; without any, the union itself refuses.
        return issue.issues.length > 0
          ? issue.issues.forEach((inner) => walk(inner, path))
          : add(violationOfType(issue.ast), path)
      case "MissingKey":
        // A field that is not there is reported with what it is missing from.
        return add(missing, path, path.slice(0, -1))
      case "InvalidType":
        return add(violationOfType(issue.ast), path)
      case "InvalidValue":
        return add(annotated(issue) ?? unexplained, path)
      default:
        return add(unexplained, path)
    }
  }
  walk(issue, [])
  return found
}

const unexplained: Violation = { type: "value_error", msg: "Value error, Input is not valid", ctx: { error: {} } }

const annotated = (node: { readonly annotations?: object | undefined }): Violation | undefined =>
  (node.annotations as { readonly [annotationKey]?: Violation } | undefined)?.[annotationKey]

/** What pydantic says to a value that is not of a type. */
const violationOfType = (ast: SchemaAST.AST): Violation => {
  const own = annotated(ast)
  if (own !== undefined) return own
  switch (ast._tag) {
    case "String":
      return { type: "string_type", msg: "Input should be a valid string" }
    case "Number":
      return { type: "float_type", msg: "Input should be a valid number" }
    case "Literal":
      return oneOf("literal_error", [ast.literal])
    case "Objects":
      return ast.indexSignatures.length > 0
        ? { type: "dict_type", msg: "Input should be a valid dictionary" }
        : {
            type: "model_attributes_type",
            msg: "Input should be a valid dictionary or object to extract fields from"
          }
    case "Union": {
      const members = ast.types.filter((member) => member._tag !== "Null")
      return members.every((member) => member._tag === "Literal")
        ? oneOf(
            "enum",
            members.map((member) => member.literal)
          )
        : violationOfType(encodedSide(members[0]!))
    }
    default:
      return unexplained
  }
}

/** A value that is refused for its type is refused by the side of a transformation that it came in on. */
const encodedSide = (ast: SchemaAST.AST): SchemaAST.AST => ast.encoding?.at(-1)?.to ?? ast

const oneOf = (type: string, literals: ReadonlyArray<SchemaAST.LiteralValue>): Violation => {
  const quoted = literals.map((literal) => `'${String(literal)}'`)
  const expected =
    quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(", ")} or ${quoted[quoted.length - 1]}`
  return { type, msg: `Input should be ${expected}`, ctx: { expected } }
}

/** Decodes with every error reported. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
  Schema.decodeUnknownEffect(schema, { errors: "all" })

/** Decodes a value that is given by a name of its own, as a header or an option is. */
export const decodeOption = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, ...loc: ReadonlyArray<string>) => {
  const decodeValue = decoder(schema)
  return (value: unknown) =>
    Effect.mapError(decodeValue(value), ({ issue }) => {
      const echo = () => ErrorInput.ofString(String(value))
      return new ValidationFailure({ detail: details(issue, "header", echo).map((detail) => ({ ...detail, loc })) })
    })
}
