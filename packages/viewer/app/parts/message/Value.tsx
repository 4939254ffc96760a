/** Arguments and answers of tools: fields by name, texts with their own line breaks, everything else as JSON. */
import { ExactNumber } from "../../server/ExactJson.ts"
import { Plain } from "../../text/Plain.tsx"
import { Text } from "../Text.tsx"

/** Deeper values are shown as JSON. */
const maxDepth = 3

/** A value of more fields is shown as JSON. */
const maxFields = 1_000

/** Characters of a value that are shown at first. */
const firstCharacters = 4_000

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)

/** The fields that would be shown by name, counted as far as `most`. */
const countFields = (value: unknown, depth: number, most: number): number => {
  if (!isFields(value) || depth === maxDepth) return 0
  let count = 0
  for (const name in value) {
    count += 1 + countFields(value[name], depth + 1, most - count)
    if (count > most) break
  }
  return count
}

export const Value = ({ value }: { readonly value: unknown }) => (
  <Fields value={value} depth={countFields(value, 0, maxFields) > maxFields ? maxDepth : 0} />
)

const Fields = ({ depth, value }: { readonly value: unknown; readonly depth: number }) => {
  if (typeof value === "string") return <Text text={value} isMarkdown={false} first={firstCharacters} />
  if (isFields(value) && depth < maxDepth && Object.keys(value).length > 0) {
    return (
      <dl class="value">
        {Object.entries(value).map(([name, each]) => (
          <div key={name}>
            <Plain as="dt" text={name} />
            <dd>
              <Fields value={each} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
    )
  }
  return <Text text={JSON.stringify(value, undefined, 2) ?? ""} isMarkdown={false} first={firstCharacters} />
}
