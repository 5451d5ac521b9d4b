#pragma once
// The handlers of all operations, for the generated wrappers.

#include "capture/recorder/handlers/collective.hpp"
#include "capture/recorder/handlers/communicator.hpp"
#include "capture/recorder/handlers/completion.hpp"
#include "capture/recorder/handlers/file.hpp"
#include "capture/recorder/handlers/persistent.hpp"
#include "capture/recorder/handlers/point_to_point.hpp"
#include "capture/recorder/handlers/session.hpp"
#include "capture/recorder/handlers/window.hpp"
