/** A file of the pages. */
export interface Asset {
  /** Relative to where the pages are mounted: `index.html`, `assets/….js`. */
  readonly path: string
  /** Its `Content-Type`. */
  readonly type: string
  /** A weak validator: every encoding of the file has the same one. */
  readonly etag: string
  /** Length as it is, in bytes. */
  readonly bytes: number
  /** Base64 of the compressed bytes. */
  readonly brotli: string
}
