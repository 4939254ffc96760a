/** A typed client of the whole interface, without the recorder. */
export {
  type Answered,
  type Api,
  apiOver,
  type ApiOptions,
  type CallOptions,
  createApi,
  type Method,
  type Send,
  type Sent
} from "./api/Api.ts"
export { ApiError, type ErrorBody, type ErrorOf, type ErrorType, isApiError } from "./api/ApiError.ts"
export { parsedLines, textLines } from "./api/Lines.ts"
export type { Operations } from "./api/generated/Operations.ts"
export type * from "./api/generated/Types.ts"
