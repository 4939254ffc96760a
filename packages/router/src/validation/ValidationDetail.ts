/**
 * Converts the issues of a schema to the details that pydantic reports. All rules are here: a schema or a check with its own
 * error carries the violation as an annotation (core, `domain/Violation`); every other error follows from the kind of schema.
 */
import { type ErrorDetail, ValidationFailure } from "@tachograph/api"
import { annotationKey, valueError, type Violation } from "@tachograph/core/domain/Violation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as ErrorInput from "./ErrorInput.ts"

export type ErrorLocation = "path" | "query" | "header" | "body"

type Path = ReadonlyArray<PropertyKey>

const missing: Violation = { type: "missing", msg: "Field required" }

const extra: Violation = { type: "extra_forbidden", msg: "Extra inputs are not permitted" }

export const missingBody: ErrorDetail = { ...missing, loc: ["body"], input: null }

/** Maximum number of details in an answer: a body can contain millions of errors. */
const maxDetails = 1_000

/** All errors, in the order of the schema's fields. */
export const details = (issue: SchemaIssue.Issue, location: ErrorLocation, echo: ErrorInput.Echo) => {
  const found: Array<{ readonly violation: Violation; readonly path: Path; readonly at: Path }> = []
  const add = (violation: Violation, path: Path, at: Path = path) => {
    if (found.length < maxDetails) found.push({ violation, path, at })
  }
  const walk = (issue: SchemaIssue.Issue, path: Path): void => {
    switch (issue._tag) {
      case "Pointer":
        return walk(issue.issue, [...path, ...issue.path])
      case "Composite":
        return issue.issues.slice(0, maxDetails).forEach((inner) => walk(inner, path))
      case "Filter":
      case "Encoding":
        return walk(issue.issue, path)
      case "AnyOf":
        // Members of another type than the value have no issue. Without any issue, the error is that of the union itself.
        return issue.issues.length > 0
          ? issue.issues.forEach((inner) => walk(inner, path))
          : add(violationOfType(issue.ast), path)
      case "MissingKey":
        // The `input` of a missing field is the object that lacks it.
        return add(missing, path, path.slice(0, -1))
      case "UnexpectedKey":
        return add(extra, path)
      case "InvalidType":
        return add(violationOfType(issue.ast), path)
      case "InvalidValue":
        return add(annotated(issue) ?? unexplained, path)
      default:
        return add(unexplained, path)
    }
  }
  walk(issue, [])
  // As pydantic orders them: the schema finds these first.
  found.sort((a, b) => Number(a.violation === extra) - Number(b.violation === extra))
  const inputs = echo(found.map(({ at }) => at))
  return found.map(({ path, violation: { ctx, msg, type } }, index): ErrorDetail => {
    const loc = [location, ...path.map(String)]
    const input = inputs[index]
    return ctx === undefined ? { type, loc, msg, input } : { type, loc, msg, input, ctx }
  })
}

/** The errors of fields of a body that a schema does not have. */
export const extras = (paths: ReadonlyArray<Path>, echo: ErrorInput.Echo): ReadonlyArray<ErrorDetail> => {
  const inputs = echo(paths)
  return paths.map((path, index) => ({ ...extra, loc: ["body", ...path.map(String)], input: inputs[index] }))
}

const unexplained = valueError("Input is not valid")

const annotated = (node: { readonly annotations?: object | undefined }): Violation | undefined =>
  (node.annotations as { readonly [annotationKey]?: Violation } | undefined)?.[annotationKey]

/** pydantic's error for a value of a wrong type. */
const violationOfType = (ast: SchemaAST.AST): Violation => {
  const violation = annotated(ast)
  if (violation !== undefined) return violation
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

/** The type of the encoded side of a transformation, which is the one that a value of a wrong type does not fit. */
const encodedSide = (ast: SchemaAST.AST): SchemaAST.AST => ast.encoding?.at(-1)?.to ?? ast

const oneOf = (type: string, literals: ReadonlyArray<SchemaAST.LiteralValue>): Violation => {
  const quoted = literals.map((literal) => `'${String(literal)}'`)
  const expected =
    quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(", ")} or ${quoted[quoted.length - 1]}`
  return { type, msg: `Input should be ${expected}`, ctx: { expected } }
}

/** What becomes of keys that a schema does not have. */
export type Excess = Pick<SchemaAST.ParseOptions, "onExcessProperty">

/** Decodes, and reports all errors. Keys that a schema does not have are ignored, unless `onExcessProperty` says otherwise. */
export const decoder = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  { onExcessProperty }: Excess = { onExcessProperty: "ignore" }
) => Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty })

/** Decodes a single value with its own location, such as a header or an option. */
export const decodeNamed = <S extends Schema.ConstraintDecoder<unknown>>(schema: S, ...loc: ReadonlyArray<string>) => {
  const decodeValue = decoder(schema)
  return (value: unknown) =>
    Effect.mapError(decodeValue(value), ({ issue }) => {
      const echo: ErrorInput.Echo = (paths) => paths.map(() => ErrorInput.ofString(String(value)))
      return new ValidationFailure({ detail: details(issue, "header", echo).map((detail) => ({ ...detail, loc })) })
    })
}
