# Trains ranger on an airline CSV or glmnet on numbers; prints one line of JSON.
#
#     Rscript bench/peers/training.r ranger|glmnet train.csv test.csv

arguments <- commandArgs(trailingOnly = TRUE)
peer <- arguments[1]
train <- read.csv(arguments[2], stringsAsFactors = TRUE)
test <- read.csv(arguments[3], stringsAsFactors = TRUE)

memory <- function() {
  lines <- readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("VmHWM", lines, value = TRUE))) * 1024
}
area <- function(scores, truth) {
  ranks <- rank(scores)
  n <- sum(truth)
  (sum(ranks[truth]) - n * (n + 1) / 2) / (n * sum(!truth))
}
suppressPackageStartupMessages(library(peer, character.only = TRUE))
invisible(gc())
cat("5", file = "/proc/self/clear_refs")
before <- proc.time()
if (peer == "ranger") {
  model <- ranger(dep_delayed_15min ~ ., train, num.trees = 100, max.depth = 20, probability = TRUE,
    num.threads = 2, seed = 1, respect.unordered.factors = "order")
} else {
  x <- as.matrix(train[, grep("^x", names(train))])
  model <- glmnet(x, train$y, nlambda = 50)
}
took <- proc.time() - before
peak <- memory()
if (peer == "ranger") {
  scores <- predict(model, test, num.threads = 2)$predictions[, "Y"]
  quality <- area(scores, test$dep_delayed_15min == "Y")
} else {
  quality <- max(model$dev.ratio)
}
cat(sprintf('{"seconds":%f,"cpuSeconds":%f,"peakBytes":%f,"quality":%f}\n',
  took["elapsed"], took["user.self"] + took["sys.self"], peak, quality))
