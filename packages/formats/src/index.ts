/** The seven formats of model calls: `formats[api]` reads one. */
export type {
  Accumulated,
  Accumulator,
  Api,
  Billing,
  Conversation,
  Facts,
  Format,
  Json,
  JsonObject,
  Message,
  Part,
  Request,
  RequestBilling,
  StopReason,
  WireApi
} from "./Format.ts"
export { formats } from "./Formats.ts"
