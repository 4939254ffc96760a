/** The query parameters of a list, as the recorder takes them. */
import { defaultLimit } from "@tachograph/api"

interface Parameters {
  readonly limit?: number
  readonly cursor?: string
}

export const of = <Key>(
  { cursor, limit = defaultLimit }: Parameters,
  { decode }: { readonly decode: (cursor: string | undefined) => Key | undefined }
) => ({ after: decode(cursor), limit })
