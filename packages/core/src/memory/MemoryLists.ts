/** Pages of what a project has, by the keys of rows. */
import type { ListPage, ListQuery } from "../storage/Lists.ts"

interface Listed<Row, Key> {
  readonly key: Key
  readonly row: Row
  /** Its free text, whose bytes count. */
  readonly text: string | null
}

export const page = <Row, Key extends number | string>(
  listed: ReadonlyArray<Listed<Row, Key>>,
  { after, limit, maxBytes }: ListQuery<Key>
): ListPage<Row, Key> => {
  const rest = listed
    .filter(({ key }) => after === undefined || key > after)
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .slice(0, limit + 1)
  let bytesLeft = maxBytes
  const omitted = rest.findIndex(({ text }, index) => (bytesLeft -= Buffer.byteLength(text ?? "")) < 0 && index > 0)
  const found = rest.slice(0, omitted === -1 ? limit : Math.min(omitted, limit))
  return { rows: found.map(({ row }) => row), next: found.length < rest.length ? found.at(-1)?.key : undefined }
}
