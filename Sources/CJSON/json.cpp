#include "CJSON.h"
