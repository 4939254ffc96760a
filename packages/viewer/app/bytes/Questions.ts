/** What the page asks the worker that holds a text, and what it answers. */
import type { Child } from "./Scan.ts"

export type Question =
  | { readonly type: "open"; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "rows"; readonly from: number; readonly to: number }
  | { readonly type: "children"; readonly start: number }
  | { readonly type: "text"; readonly start: number; readonly end: number }
  | { readonly type: "find"; readonly words: string }

export type Answer =
  | { readonly type: "opened"; readonly rows: number; readonly root: number }
  | { readonly type: "rows"; readonly texts: ReadonlyArray<string> }
  | { readonly type: "children"; readonly children: ReadonlyArray<Child> }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "found"; readonly offsets: Uint32Array; readonly rows: Uint32Array }
