/** Calls of Google's, by their paths, which name the model: Gemini's own, and on Vertex those of other makers. */
import type { Maker } from "../Format.ts"

const ofMakers = /\/(publishers\/anthropic\/models|models|endpoints)\/[^/]+:(?:streamR|r)awPredict$/

/** Whose model is called on Vertex; undefined where a path is no such call. */
export const makerOf = (path: string): Maker | undefined => {
  const [, place] = ofMakers.exec(path) ?? []
  if (place === undefined) return undefined
  return place.startsWith("publishers") ? "anthropic" : "any"
}

/** The model that a path names, or undefined. */
export const modelIn = (path: string): string | undefined =>
  /\/((?:tunedModels\/)?[^/]+):(?:(?:streamG|g)enerateContent|(?:streamR|r)awPredict)$/.exec(path)?.[1]
